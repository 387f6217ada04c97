#include "state/base/time_units.h"
#include "state/etcd/etcd_call.h"
#include "state/etcd/etcd_item.h"
#include <errno.h>

// Pages of values: so many items first, then so many that about so many bytes come at once.
#define PAGE_ITEMS_FIRST 32u
#define PAGE_BYTES (8u * 1024 * 1024)
#define PAGE_ITEMS_MAX 10000u

// A page of a range; all are of the revision that etcd had at the first.
struct page {
	const struct etcd_range *range;
	uint32_t limit;                    // 0: none
	uint64_t revision;                 // 0: the newest
	uint32_t last_size;                // of the last key that was read; 0: none was
	char last[ETCD_KEY_BYTES_MAX + 1]; // with room for a NUL
	// What was read of it.
	uint64_t etcd_revision, count, bytes;
	uint32_t items;
	bool has_more, was_ended;
};

static void page_write(struct bytes_writer *w, const void *request)
{
	const struct page *p = request;
	const struct etcd_range *r = p->range;
	ETCD_JSON_PUT(w, "{\"key\":");
	// The least key behind another one is that key and a NUL.
	if (p->last_size)
		etcd_json_put_bytes(w, p->last, p->last_size + 1);
	else
		etcd_json_put_key(w, r->key);
	if (r->end) {
		ETCD_JSON_PUT(w, ",\"range_end\":");
		etcd_json_put_key(w, r->end);
	}
	if (p->limit) {
		ETCD_JSON_PUT(w, ",\"limit\":");
		etcd_json_put_u64(w, p->limit);
	}
	if (p->revision) {
		ETCD_JSON_PUT(w, ",\"revision\":");
		etcd_json_put_u64(w, p->revision);
	}
	if (r->descending)
		ETCD_JSON_PUT(w, ",\"sort_order\":\"DESCEND\",\"sort_target\":\"KEY\"");
	if (r->keys_only)
		ETCD_JSON_PUT(w, ",\"keys_only\":true");
	if (r->is_stale)
		ETCD_JSON_PUT(w, ",\"serializable\":true");
	ETCD_JSON_PUT(w, "}");
}

// Whether a key comes behind the last one in the order of the range; else pages would never end.
static bool key_goes_on(const struct page *p, const char *key, uint32_t size)
{
	if (p->last_size == 0)
		return true;
	int order = memcmp(key, p->last, size < p->last_size ? size : p->last_size);
	if (order == 0)
		order = size < p->last_size ? -1 : size > p->last_size;
	return p->range->descending ? order < 0 : order > 0;
}

static void items_read(struct etcd_json *j, struct page *p)
{
	const struct etcd_range *r = p->range;
	struct etcd_item item;
	etcd_json_enter(j, '[');
	while (etcd_json_element(j)) {
		uint32_t size = etcd_item_read(j, &item);
		if (size == 0 || size > ETCD_KEY_BYTES_MAX || !key_goes_on(p, item.key, size))
			j->failed = true;
		if (j->failed)
			return;
		p->items++;
		p->bytes += item.size;
		p->last_size = size;
		memcpy(p->last, item.key, size + 1);
		if (!p->was_ended && r->visit && !r->visit(r->context, &item))
			p->was_ended = true;
	}
}

static int page_read(struct etcd_json *j, void *context)
{
	struct page *p = context;
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "header"))
			p->etcd_revision = etcd_header_revision(j);
		else if (etcd_json_is(name, "kvs"))
			items_read(j, p);
		else if (etcd_json_is(name, "count"))
			p->count = etcd_json_u64(j);
		else if (etcd_json_is(name, "more"))
			p->has_more = etcd_json_bool(j);
		else
			etcd_json_skip(j);
	}
	return j->failed || p->etcd_revision == 0 ? -EPROTO : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// Items of the next page, so that values of PAGE_BYTES come; `left` of the range's own limit, 0 without one. etcd
// reads all that it has to sort, so that pages of a descending range would cost it a whole range each.
static uint32_t page_limit(const struct page *p, uint32_t left)
{
	if (!p->range->end || p->range->descending)
		return left;
	uint64_t items = p->range->keys_only ? PAGE_ITEMS_MAX : PAGE_ITEMS_FIRST;
	if (p->items && !p->range->keys_only)
		items = smaller(PAGE_BYTES / (p->bytes / p->items + 1) + 1, PAGE_ITEMS_MAX);
	return (uint32_t)(left ? smaller(items, left) : items);
}

// Reads one more page. Returns whether another one is needed.
static bool page_turn(
	struct etcd *e, struct page *p, uint32_t *left, uint32_t timeout_ms, int *error)
{
	p->limit = page_limit(p, *left);
	p->items = 0;
	p->bytes = 0;
	p->has_more = false;
	*error = etcd_call(e,
		(struct etcd_call){.path = "/v3/kv/range",
			.write = page_write,
			.request = p,
			.read = page_read,
			.result = p},
		timeout_ms);
	if (*error || p->was_ended || !p->has_more || p->items == 0)
		return false;
	if (*left == 0)
		return true;
	*left = *left > p->items ? *left - p->items : 0;
	return *left > 0;
}

int etcd_range(struct etcd *e, const struct etcd_range *r, uint32_t timeout_ms,
	struct etcd_range_result *result)
{
	struct page page = {.range = r};
	uint64_t until_ns = etcd_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
	uint32_t left = r->limit;
	int error = 0;
	*result = (struct etcd_range_result){0};
	while (page_turn(e, &page, &left, (uint32_t)etcd_left_ms(until_ns), &error)) {
		if (page.revision == 0)
			*result = (struct etcd_range_result){page.etcd_revision, page.count};
		page.revision = result->revision;
	}
	if (error == 0 && page.revision == 0)
		*result = (struct etcd_range_result){page.etcd_revision, page.count};
	return error;
}
