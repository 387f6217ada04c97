// LMDB's file (data version 1, 64-bit), as far as it is checked here. Numbers are in the machine's
// order.
//
//	page    u64 number, u16 -, u16 flags, u16 lower, u16 upper (overflow: u32 pages),
//	        u16 node offsets…
//	node    u32 size, u16 flags, u16 key size, key, data (or u64 page number of an overflow run)
//	        in a branch page the first 6 bytes are the child's page number
//	meta    pages 0 and 1, written in turn: transaction n is in page n & 1
//
// A file passes when the newest tree is whole: every page where its parent says, every node inside
// its page, keys ascending, the counts of the meta page met, and no page used twice or listed as
// free. What is free or was never used may hold anything.
#include "state/store/lmdb/lmdb_check.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/store/lmdb/lmdb_format.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_BIG = 1 };
#define PAGE_HEADER_BYTES 16u
#define NODE_HEADER_BYTES 8u
#define KEY_BYTES 8u
#define META_MAGIC 0xbeefc0deu
#define META_VERSION 1u
#define META_BYTES 136u
#define INTEGER_KEYS 8u
#define DEPTH_MAX 32u
#define NO_PAGE UINT64_MAX

struct tree { // MDB_db
	uint32_t pad;
	uint16_t flags, depth;
	uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};

struct meta { // MDB_meta
	uint32_t magic, version;
	uint64_t address, map_bytes;
	struct tree free, main;
	uint64_t last_page, transaction;
};
_Static_assert(sizeof(struct meta) == META_BYTES, "as LMDB lays it out on a 64-bit machine");

struct check {
	const uint8_t *file;
	uint64_t file_bytes, page_bytes, last_page;
	uint8_t *taken;      // one bit per page
	uint32_t version;    // of a value, if this program does not know it
	struct meta meta[2]; // by page
	char wrong[256];     // the first thing found; empty: none
};

struct walk {
	struct tree counted;
	bool is_free_list;
	bool any_key;
	uint64_t last_key;
	uint64_t newest_transaction; // of the values
};

static bool wrong(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct check *c, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	if (!c->wrong[0])
		vsnprintf(c->wrong, sizeof c->wrong, format, values);
	va_end(values);
	return false;
}

static uint16_t u16_at(const uint8_t *at)
{
	uint16_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static uint64_t u64_at(const uint8_t *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static bool take_pages(struct check *c, uint64_t page, uint64_t count)
{
	if (page < 2 || page > c->last_page || count > c->last_page - page + 1)
		return wrong(
			c, "page %lu is outside of the %lu pages in use", page, c->last_page + 1);
	for (uint64_t i = page; i < page + count; i++) {
		if (c->taken[i / 8] & 1u << i % 8)
			return wrong(c, "page %lu is used twice", i);
		c->taken[i / 8] |= (uint8_t)(1u << i % 8);
	}
	return true;
}

// The bytes of a page that the file must hold, or NULL.
static const uint8_t *page_at(struct check *c, uint64_t page, uint16_t flags)
{
	const uint8_t *at = NULL;
	if (page <= c->last_page && (page + 1) * c->page_bytes <= c->file_bytes)
		at = c->file + page * c->page_bytes;
	if (!at)
		wrong(c, "page %lu is not in the file", page);
	else if (u64_at(at) != page || !(u16_at(at + 10) & flags) ||
		 (u16_at(at + 10) & (u16_at(at + 10) - 1)))
		wrong(c, "page %lu does not begin as it should", page);
	return c->wrong[0] ? NULL : at;
}

static uint32_t node_count(const uint8_t *page)
{
	return (u16_at(page + 12) - PAGE_HEADER_BYTES) / 2;
}

static uint16_t page_flags(const uint8_t *page)
{
	return u16_at(page + 10);
}

static uint64_t node_bytes(const uint8_t *page, const uint8_t *node)
{
	uint64_t bytes = NODE_HEADER_BYTES + u16_at(node + 6);
	if (page_flags(page) == PAGE_LEAF)
		bytes += u16_at(node + 4) & NODE_BIG ? sizeof(uint64_t) : u32_at(node);
	return (bytes + 1) & ~1ull;
}

// Nodes fill the page from `upper` to its end, without gap or overlap, in any order.
static bool nodes_are_inside(struct check *c, uint64_t number, const uint8_t *page)
{
	uint32_t lower = u16_at(page + 12), upper = u16_at(page + 14);
	if (lower < PAGE_HEADER_BYTES || lower % 2 || lower > upper || upper > c->page_bytes)
		return wrong(c, "page %lu has bounds %u and %u", number, lower, upper);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < node_count(page); i++) {
		uint32_t offset = u16_at(page + PAGE_HEADER_BYTES + 2 * i);
		if (offset < upper || offset % 2 || offset + NODE_HEADER_BYTES > c->page_bytes)
			return wrong(c, "page %lu has a node at %u", number, offset);
		uint64_t bytes = node_bytes(page, page + offset);
		if (bytes > c->page_bytes - offset)
			return wrong(c, "page %lu has a node of %lu bytes", number, bytes);
		for (uint32_t k = 0; k < i; k++)
			if (u16_at(page + PAGE_HEADER_BYTES + 2 * k) == offset)
				return wrong(c, "page %lu has the same node twice", number);
		sum += bytes;
	}
	if (sum != c->page_bytes - upper)
		return wrong(c, "page %lu holds %lu bytes of nodes, not %lu", number, sum,
			c->page_bytes - upper);
	return true;
}

// A node's data: inside the page, or in overflow pages, which are then marked as taken.
static const uint8_t *node_data(
	struct check *c, struct walk *w, const uint8_t *node, uint32_t size, bool take)
{
	const uint8_t *data = node + NODE_HEADER_BYTES + KEY_BYTES;
	if (!(u16_at(node + 4) & NODE_BIG))
		return data;
	uint64_t number = u64_at(data);
	const uint8_t *page = page_at(c, number, PAGE_OVERFLOW);
	if (!page)
		return NULL;
	uint64_t pages = u32_at(page + 12);
	if (pages * c->page_bytes < (uint64_t)size + PAGE_HEADER_BYTES ||
		(number + pages) * c->page_bytes > c->file_bytes) {
		wrong(c, "page %lu begins a run of %lu pages for %u bytes", number, pages, size);
		return NULL;
	}
	w->counted.overflow_pages += pages;
	if (take && !take_pages(c, number, pages))
		return NULL;
	return page + PAGE_HEADER_BYTES;
}

// The free list: a count, then page numbers in descending order.
static bool take_free_pages(struct check *c, const uint8_t *data, uint32_t size)
{
	uint64_t count = size >= 8 ? u64_at(data) : NO_PAGE;
	if (count > size / 8 - 1)
		return wrong(c, "the free list is longer than its record");
	for (uint64_t i = 1; i <= count; i++) {
		if (i > 1 && u64_at(data + 8 * i) >= u64_at(data + 8 * (i - 1)))
			return wrong(c, "the free list is out of order");
		if (!take_pages(c, u64_at(data + 8 * i), 1))
			return false;
	}
	return true;
}

static bool read_value(
	struct check *c, struct walk *w, uint64_t key, const uint8_t *data, uint32_t size)
{
	if (size < LMDB_HEADER_BYTES)
		return wrong(c, "the batch of index %lu is shorter than its header", key);
	uint32_t version = u32_at(data + LMDB_VERSION_AT);
	if (key == 0 && u32_at(data) == LMDB_MAGIC && version > LMDB_VERSION) {
		c->version = version;
		return wrong(c, "its version is newer");
	}
	uint64_t transaction = u64_at(data + LMDB_TRANSACTION_AT);
	if (transaction > w->newest_transaction)
		w->newest_transaction = transaction;
	return true;
}

static bool visit_key(struct check *c, struct walk *w, uint64_t key, uint64_t low, uint64_t high)
{
	if (key < low || key >= high || (w->any_key && key <= w->last_key))
		return wrong(c, "key %lu is out of order", key);
	w->any_key = true;
	w->last_key = key;
	return true;
}

static bool visit_leaf(struct check *c, struct walk *w, const uint8_t *node, uint64_t low,
	uint64_t high, bool take)
{
	uint32_t size = u32_at(node);
	uint16_t flags = u16_at(node + 4), key_bytes = u16_at(node + 6);
	if (key_bytes != KEY_BYTES || flags & ~NODE_BIG)
		return wrong(c, "a node has a key of %u bytes and flags %x", key_bytes, flags);
	uint64_t key = u64_at(node + NODE_HEADER_BYTES);
	if (!visit_key(c, w, key, low, high))
		return false;
	w->counted.entries++;
	const uint8_t *data = node_data(c, w, node, size, take);
	if (!data)
		return false;
	if (!w->is_free_list)
		return read_value(c, w, key, data, size);
	return !take || take_free_pages(c, data, size);
}

static bool visit_page(struct check *c, struct walk *w, uint64_t number, uint32_t depth,
	uint64_t low, uint64_t high, bool take);

static bool visit_branch(struct check *c, struct walk *w, const uint8_t *page, uint32_t depth,
	uint64_t low, uint64_t high, bool take)
{
	uint32_t count = node_count(page);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *node = page + u16_at(page + PAGE_HEADER_BYTES + 2 * i);
		const uint8_t *next = page + u16_at(page + PAGE_HEADER_BYTES + 2 * (i + 1));
		if (i > 0 && u16_at(node + 6) != KEY_BYTES)
			return wrong(c, "a branch has a key of %u bytes", u16_at(node + 6));
		if (i + 1 < count && u16_at(next + 6) != KEY_BYTES)
			return wrong(c, "a branch has a key of %u bytes", u16_at(next + 6));
		uint64_t from = i > 0 ? u64_at(node + NODE_HEADER_BYTES) : low;
		uint64_t to = i + 1 < count ? u64_at(next + NODE_HEADER_BYTES) : high;
		if (from < low || to > high || from >= to)
			return wrong(c, "a branch has keys out of order");
		uint64_t child = u32_at(node) | (uint64_t)u16_at(node + 4) << 32;
		if (!visit_page(c, w, child, depth - 1, from, to, take))
			return false;
	}
	w->counted.branch_pages++;
	return true;
}

static bool visit_page(struct check *c, struct walk *w, uint64_t number, uint32_t depth,
	uint64_t low, uint64_t high, bool take)
{
	uint16_t kind = depth > 1 ? PAGE_BRANCH : PAGE_LEAF;
	const uint8_t *page = page_at(c, number, kind);
	if (!page || (take && !take_pages(c, number, 1)) || !nodes_are_inside(c, number, page))
		return false;
	if (node_count(page) == 0)
		return wrong(c, "page %lu is empty", number);
	if (kind == PAGE_BRANCH)
		return visit_branch(c, w, page, depth, low, high, take);
	w->counted.leaf_pages++;
	for (uint32_t i = 0; i < node_count(page); i++) {
		const uint8_t *node = page + u16_at(page + PAGE_HEADER_BYTES + 2 * i);
		if (!visit_leaf(c, w, node, low, high, take))
			return false;
	}
	return true;
}

static bool visit_tree(struct check *c, struct walk *w, const struct tree *tree, bool take)
{
	w->counted = (struct tree){
		.pad = tree->pad, .flags = tree->flags, .depth = tree->depth, .root = tree->root};
	bool empty = tree->root == NO_PAGE;
	if (empty != (tree->depth == 0) || tree->depth > DEPTH_MAX)
		return wrong(c, "a tree has depth %u and root %lu", tree->depth, tree->root);
	if (!empty && !visit_page(c, w, tree->root, tree->depth, 0, UINT64_MAX, take))
		return false;
	if (memcmp(&w->counted, tree, sizeof *tree) != 0)
		return wrong(c, "a tree does not have the pages and entries that it names");
	return true;
}

static bool read_meta(struct check *c, int which)
{
	struct meta *m = &c->meta[which];
	const uint8_t *page = c->file + (uint64_t)which * c->page_bytes;
	memcpy(m, page + PAGE_HEADER_BYTES, sizeof *m);
	if (u64_at(page) != (uint64_t)which || page_flags(page) != PAGE_META ||
		m->magic != META_MAGIC || m->version != META_VERSION || m->address != 0)
		return wrong(c, "page %d does not begin as a meta page does", which);
	if (m->free.pad != c->page_bytes || m->free.flags != INTEGER_KEYS || m->main.pad != 0 ||
		m->main.flags != (m->transaction == 0 ? 0 : INTEGER_KEYS))
		return wrong(c, "meta page %d has flags that a log has not", which);
	if ((m->transaction & 1) != (uint64_t)which && m->transaction != 0)
		return wrong(c, "meta page %d is of transaction %lu", which, m->transaction);
	if (m->last_page < 1 || m->last_page >= m->map_bytes / c->page_bytes)
		return wrong(c, "meta page %d names %lu pages in a map of %lu bytes", which,
			m->last_page + 1, m->map_bytes);
	return true;
}

// Visits the main tree of one meta page and checks that its newest value was written by that transaction.
static bool visit_main(struct check *c, const struct meta *m, bool take)
{
	struct walk w = {0};
	c->last_page = m->last_page;
	if (!visit_tree(c, &w, &m->main, take))
		return false;
	if (w.newest_transaction != m->transaction)
		return wrong(c,
			"a meta page is of transaction %lu but its newest batch of transaction %lu",
			m->transaction, w.newest_transaction);
	return true;
}

static bool check_file(struct check *c)
{
	if (!read_meta(c, 0) || !read_meta(c, 1))
		return false;
	int newest = c->meta[1].transaction > c->meta[0].transaction;
	const struct meta *m = &c->meta[newest], *before = &c->meta[!newest];
	if (m->transaction != before->transaction + 1)
		return wrong(c, "its meta pages are of transactions %lu and %lu",
			before->transaction, m->transaction);
	if (!visit_main(c, before, false))
		return false;
	c->taken = memory_take(m->last_page / 8 + 1);
	struct walk w = {.is_free_list = true};
	bool passed = visit_main(c, m, true) && visit_tree(c, &w, &m->free, true);
	free(c->taken);
	return passed;
}

// Reads the page size from the first meta page and checks it against the file.
static bool find_page_size(struct check *c)
{
	if (c->file_bytes < 2 * 512)
		return wrong(c, "it has only %lu bytes", c->file_bytes);
	c->page_bytes = u32_at(c->file + PAGE_HEADER_BYTES + offsetof(struct meta, free.pad));
	if (c->page_bytes < 512 || c->page_bytes > 32768 || c->page_bytes & (c->page_bytes - 1))
		return wrong(c, "it names a page size of %lu bytes", c->page_bytes);
	if (c->file_bytes < 2 * c->page_bytes)
		return wrong(c, "it has only %lu bytes", c->file_bytes);
	return true;
}

static int map_file(struct check *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct stat stat;
	int error = CAN_FAIL(LMDB_STAT, fstat(fd, &stat)) < 0 ? -errno : 0;
	c->file_bytes = error < 0 ? 0 : (uint64_t)stat.st_size;
	if (error == 0 && c->file_bytes > 0) {
		void *file = mmap(NULL, c->file_bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (file == MAP_FAILED)
			error = -errno;
		else
			c->file = file;
	}
	close(fd);
	return error;
}

int lmdb_check(const char *path, uint64_t *bytes, const struct complaint *complaint)
{
	struct check c = {0};
	int error = map_file(&c, path);
	if (error < 0) {
		complain(complaint, error, "cannot read the log %s: %s", path, error_text(error));
	} else if (!find_page_size(&c) || !check_file(&c)) {
		error = c.version ? lmdb_complain_version(complaint, path, c.version)
				  : complain(complaint, -ERROR_CORRUPT,
					    "the log %s is damaged: %s; %s", path, c.wrong,
					    JOURNAL_REMEDY);
	}
	*bytes = c.file_bytes;
	if (c.file)
		munmap((void *)(uintptr_t)c.file, c.file_bytes);
	return error;
}
