// A snapshot file, version 1. Numbers are little-endian.
//
//	header  8 bytes "BERTHSNP"
//	        u32 version of this layout, u32 version of the items
//	        u64 index that the items are as of
//	        36 zero bytes
//	        u32 CRC-32C of the 60 bytes above
//	block   u32 magic "BLCK", u32 size of the payload, u32 number of items in it
//	        u32 CRC-32C of the 12 bytes above and the payload, begun with the CRC before it
//	        payload: per item u32 size, bytes
//	…
//	end     u32 magic "BEND", u32 zero
//	        u64 number of blocks, u64 number of items, u64 index
//	        u32 CRC-32C of the 32 bytes above, begun with the CRC before it
//
// Checksums are chained, so that a block that is missing, doubled or of another file shows as well
// as one that is damaged. Nothing follows the end.
#include "state/store/snapshot_file.h"
#include "state/base/check.h"
#include "state/base/crc32c.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/store/direct_stream.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "BERTHSNP"
#define VERSION 1u
#define HEADER_BYTES 64u
#define BLOCK_MAGIC 0x4b434c42u // "BLCK"
#define BLOCK_HEADER_BYTES 16u
#define END_MAGIC 0x444e4542u // "BEND"
#define END_BYTES 36u
// Large enough for sequential speed, small enough to stay in the cache between checksum and use.
#define BLOCK_BYTES (256u * 1024)
// Larger payloads are refused: no item comes near (the largest is a job, JOB_JSON_BYTES_MAX of text).
#define BLOCK_BYTES_MAX (64u * 1024 * 1024)

struct snapshot_writer {
	struct direct_stream *file;
	int error; // the first that is not the file's
	uint64_t index, blocks, items;
	uint32_t crc;
	struct bytes_writer block; // begins with room for its header
	uint32_t block_items;
	size_t item_at; // start of the item being written
};

static void block_begin(struct snapshot_writer *w)
{
	w->block.size = 0;
	bytes_put_zeros(&w->block, BLOCK_HEADER_BYTES);
	w->block_items = 0;
}

static void block_flush(struct snapshot_writer *w)
{
	if (w->block_items == 0)
		return;
	uint64_t payload = w->block.size - BLOCK_HEADER_BYTES;
	if (w->block.failed || payload > BLOCK_BYTES_MAX) {
		w->error = w->error ? w->error : -EFBIG;
		return;
	}
	struct bytes_writer header = bytes_writer_over(w->block.data, BLOCK_HEADER_BYTES);
	bytes_put_u32(&header, BLOCK_MAGIC);
	bytes_put_u32(&header, (uint32_t)payload);
	bytes_put_u32(&header, w->block_items);
	w->crc = crc32c(w->crc, w->block.data, 12);
	w->crc = crc32c(w->crc, w->block.data + BLOCK_HEADER_BYTES, payload);
	bytes_put_u32(&header, w->crc);
	direct_stream_write(w->file, w->block.data, w->block.size);
	w->blocks++;
	w->items += w->block_items;
	block_begin(w);
}

static void put_header(struct snapshot_writer *w, uint32_t items_version)
{
	uint8_t header[HEADER_BYTES];
	struct bytes_writer b = bytes_writer_over(header, sizeof header);
	bytes_put(&b, MAGIC, 8);
	bytes_put_u32(&b, VERSION);
	bytes_put_u32(&b, items_version);
	bytes_put_u64(&b, w->index);
	bytes_put_zeros(&b, 36);
	w->crc = crc32c(0, header, b.size);
	bytes_put_u32(&b, w->crc);
	CHECK(!b.failed && b.size == HEADER_BYTES);
	direct_stream_write(w->file, header, sizeof header);
}

static void put_end(struct snapshot_writer *w)
{
	uint8_t end[END_BYTES];
	struct bytes_writer b = bytes_writer_over(end, sizeof end);
	bytes_put_u32(&b, END_MAGIC);
	bytes_put_u32(&b, 0);
	bytes_put_u64(&b, w->blocks);
	bytes_put_u64(&b, w->items);
	bytes_put_u64(&b, w->index);
	bytes_put_u32(&b, crc32c(w->crc, end, b.size));
	CHECK(!b.failed && b.size == END_BYTES);
	direct_stream_write(w->file, end, sizeof end);
}

int snapshot_writer_open(
	const char *path, uint32_t items_version, uint64_t index, struct snapshot_writer **out)
{
	struct direct_stream *file;
	int error = direct_stream_create(path, &file);
	if (error < 0)
		return error;
	struct snapshot_writer *w = memory_take(sizeof *w);
	*w = (struct snapshot_writer){.file = file,
		.index = index,
		.block = bytes_writer_growing(BLOCK_BYTES + BLOCK_BYTES / 4)};
	put_header(w, items_version);
	block_begin(w);
	*out = w;
	return 0;
}

struct bytes_writer *snapshot_item_begin(struct snapshot_writer *w)
{
	w->item_at = w->block.size;
	bytes_put_u32(&w->block, 0);
	return &w->block;
}

void snapshot_item_keep(struct snapshot_writer *w)
{
	size_t size = w->block.size - w->item_at - 4;
	if (w->block.failed || size > BLOCK_BYTES_MAX) {
		w->error = w->error ? w->error : -EFBIG;
		return;
	}
	struct bytes_writer at = bytes_writer_over(w->block.data + w->item_at, 4);
	bytes_put_u32(&at, (uint32_t)size);
	w->block_items++;
	if (w->block.size >= BLOCK_BYTES)
		block_flush(w);
}

void snapshot_item_drop(struct snapshot_writer *w)
{
	w->block.size = w->item_at;
}

int snapshot_writer_close(struct snapshot_writer *w)
{
	block_flush(w);
	put_end(w);
	int of_file = direct_stream_close(w->file), error = w->error ? w->error : of_file;
	bytes_writer_free(&w->block);
	free(w);
	return error;
}

struct snapshot_reader {
	const struct snapshot_source *source;
	const struct complaint *complaint;
	const char *name;
	uint64_t at; // bytes read so far
	uint64_t blocks, items;
	uint32_t crc;
	uint8_t *block;
	size_t block_capacity;
};

static int damaged(struct snapshot_reader *r, uint64_t at, const char *what)
{
	return complain(r->complaint, -ERROR_CORRUPT, "the snapshot %s is damaged at byte %lu: %s",
		r->name, at, what);
}

// Returns 0 when it read all size bytes.
static int read_exactly(struct snapshot_reader *r, void *to, size_t size)
{
	int64_t n = r->source->read(r->source->context, to, size);
	if (n < 0)
		return complain(r->complaint, (int)n, "cannot read the snapshot %s: %s", r->name,
			error_text((int)n));
	r->at += (uint64_t)n;
	return (size_t)n == size ? 0 : damaged(r, r->at, "it ends too early");
}

static int read_header(
	struct snapshot_reader *r, uint32_t items_version_known, struct snapshot_info *info)
{
	uint8_t header[HEADER_BYTES];
	int error = read_exactly(r, header, sizeof header);
	if (error < 0)
		return error;
	struct bytes_reader b = bytes_reader_over(header, sizeof header);
	if (memcmp(bytes_take(&b, 8), MAGIC, 8) != 0)
		return damaged(r, 0, "it does not begin as a snapshot does");
	info->version = bytes_take_u32(&b);
	info->items_version = bytes_take_u32(&b);
	info->index = bytes_take_u64(&b);
	r->crc = crc32c(0, header, HEADER_BYTES - 4);
	b = bytes_reader_over(header + HEADER_BYTES - 4, 4);
	if (bytes_take_u32(&b) != r->crc)
		return damaged(r, 0, "the checksum of its header does not match");
	if (info->version > VERSION || info->items_version > items_version_known)
		return complain(r->complaint, -ERROR_VERSION,
			"the snapshot %s is of version %u.%u and this program knows version "
			"%u.%u: start the program that wrote it, or a newer one",
			r->name, info->version, info->items_version, VERSION, items_version_known);
	return 0;
}

static int visit_items(struct snapshot_reader *r, uint64_t at, size_t size, uint32_t items,
	snapshot_visit *visit, void *context)
{
	struct bytes_reader b = bytes_reader_over(r->block, size);
	for (uint32_t i = 0; i < items; i++) {
		uint32_t item_bytes = bytes_take_u32(&b);
		const uint8_t *item = bytes_take(&b, item_bytes);
		if (b.failed)
			return damaged(r, at, "an item of the block does not fit in it");
		int error = visit ? visit(context, item, item_bytes) : 0;
		if (error < 0)
			return error;
	}
	return bytes_left(&b) == 0 ? 0 : damaged(r, at, "the block is longer than its items");
}

static void block_room(struct snapshot_reader *r, size_t size)
{
	if (size <= r->block_capacity)
		return;
	free(r->block);
	r->block = memory_take(size);
	r->block_capacity = size;
}

// first: the 8 bytes that a block and the end have in common.
static int read_block(
	struct snapshot_reader *r, const uint8_t *first, snapshot_visit *visit, void *context)
{
	uint64_t at = r->at - 8;
	uint8_t header[BLOCK_HEADER_BYTES];
	memcpy(header, first, 8);
	int error = read_exactly(r, header + 8, sizeof header - 8);
	if (error < 0)
		return error;
	struct bytes_reader b = bytes_reader_over(header + 4, sizeof header - 4);
	uint32_t size = bytes_take_u32(&b), items = bytes_take_u32(&b), crc = bytes_take_u32(&b);
	if (size > BLOCK_BYTES_MAX || items > size / 4 || items == 0)
		return damaged(r, at, "the block's numbers make no sense");
	block_room(r, size);
	error = read_exactly(r, r->block, size);
	if (error < 0)
		return error;
	r->crc = crc32c(crc32c(r->crc, header, 12), r->block, size);
	if (r->crc != crc)
		return damaged(r, at, "the checksum of the block does not match");
	r->blocks++;
	r->items += items;
	return visit_items(r, at, size, items, visit, context);
}

static int read_end(
	struct snapshot_reader *r, const uint8_t *first, const struct snapshot_info *info)
{
	uint8_t end[END_BYTES], more;
	memcpy(end, first, 8);
	int error = read_exactly(r, end + 8, sizeof end - 8);
	if (error < 0)
		return error;
	struct bytes_reader b = bytes_reader_over(end + 4, sizeof end - 4);
	uint32_t zero = bytes_take_u32(&b);
	uint64_t blocks = bytes_take_u64(&b), items = bytes_take_u64(&b);
	uint64_t index = bytes_take_u64(&b);
	if (bytes_take_u32(&b) != crc32c(r->crc, end, END_BYTES - 4) || zero != 0)
		return damaged(r, r->at - END_BYTES, "the checksum of its end does not match");
	if (blocks != r->blocks || items != r->items || index != info->index)
		return damaged(r, r->at - END_BYTES, "its end counts other blocks than it has");
	if (r->source->read(r->source->context, &more, 1) != 0)
		return damaged(r, r->at, "something follows its end");
	return 0;
}

static int read_parts(
	struct snapshot_reader *r, struct snapshot_info *info, snapshot_visit *visit, void *context)
{
	for (;;) {
		uint8_t first[8];
		int error = read_exactly(r, first, sizeof first);
		if (error < 0)
			return error;
		struct bytes_reader b = bytes_reader_over(first, sizeof first);
		uint32_t magic = bytes_take_u32(&b);
		if (magic == END_MAGIC)
			return read_end(r, first, info);
		if (magic != BLOCK_MAGIC)
			return damaged(r, r->at - 8, "there is no block");
		error = read_block(r, first, visit, context);
		if (error < 0)
			return error;
	}
}

int snapshot_read(const struct snapshot_source *source, uint32_t items_version_known,
	snapshot_visit *visit, void *context, struct snapshot_info *info, const char *name,
	const struct complaint *complaint)
{
	struct snapshot_reader r = {.source = source, .complaint = complaint, .name = name};
	*info = (struct snapshot_info){0};
	int error = read_header(&r, items_version_known, info);
	if (error == 0)
		error = read_parts(&r, info, visit, context);
	info->items = r.items;
	free(r.block);
	return error;
}

// A file at a place of its own, so that several threads may read one.
struct place {
	int fd;
	uint64_t at;
};

static int64_t read_at(void *context, void *to, size_t size)
{
	struct place *place = context;
	size_t done = 0;
	while (done < size) {
		ssize_t n = CAN_FAIL(SNAPSHOT_READ,
			pread(place->fd, (char *)to + done, size - done, (off_t)place->at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
		place->at += (uint64_t)n;
	}
	return (int64_t)done;
}

// One thread's part of a file that is checked. The checksum that is stored with a block begins that of the next, so the
// second part is checked as if the first were whole. That the first ends with that checksum is seen as it is checked.
struct check {
	struct place place;
	struct snapshot_source source;
	struct snapshot_reader reader;
	struct snapshot_info info;
	int error;
};

static const struct complaint no_complaint = {0};

static void check_begin(struct check *c, int fd)
{
	*c = (struct check){.place = {.fd = fd}, .source = {read_at, &c->place}};
	c->reader = (struct snapshot_reader){
		.source = &c->source, .complaint = &no_complaint, .name = ""};
}

// Goes on to the block after the one at c's place, without a look at what is in it. False: there is none.
static bool check_pass(struct check *c)
{
	uint8_t header[BLOCK_HEADER_BYTES];
	if (read_exactly(&c->reader, header, sizeof header) < 0)
		return false;
	struct bytes_reader b = bytes_reader_over(header, sizeof header);
	uint32_t magic = bytes_take_u32(&b), size = bytes_take_u32(&b);
	if (magic != BLOCK_MAGIC || size > BLOCK_BYTES_MAX)
		return false;
	c->reader.items += bytes_take_u32(&b);
	c->reader.crc = bytes_take_u32(&b);
	c->reader.blocks++;
	c->place.at += size;
	c->reader.at = c->place.at;
	return true;
}

static bool check_pass_half(struct check *c)
{
	struct stat stat;
	bool is_block = fstat(c->place.fd, &stat) == 0;
	while (is_block && c->place.at < (uint64_t)stat.st_size / 2)
		is_block = check_pass(c);
	return is_block;
}

static void *check_to_end(void *which)
{
	struct check *c = which;
	c->error = read_parts(&c->reader, &c->info, NULL, NULL);
	free(c->reader.block);
	return NULL;
}

static int check_blocks(struct check *c, uint64_t blocks)
{
	int error = 0;
	while (error == 0 && c->reader.blocks < blocks) {
		uint8_t first[8];
		error = read_exactly(&c->reader, first, sizeof first);
		if (error == 0)
			error = read_block(&c->reader, first, NULL, NULL);
	}
	free(c->reader.block);
	return error;
}

// Checks both halves side by side. An error says nothing of where: the file is to be read from its beginning.
static int check_halves(int fd, uint32_t items_version_known, struct snapshot_info *info)
{
	struct check first, second;
	pthread_t thread;
	check_begin(&first, fd);
	int error = read_header(&first.reader, items_version_known, &first.info);
	if (error)
		return error;
	check_begin(&second, fd);
	second.info = first.info;
	second.place.at = second.reader.at = first.reader.at;
	second.reader.crc = first.reader.crc;
	if (!check_pass_half(&second))
		return -ERROR_CORRUPT;
	uint64_t first_blocks = second.reader.blocks;
	error = CAN_REFUSE(LOAD_THREAD, pthread_create(&thread, NULL, check_to_end, &second));
	if (error)
		return -error;
	(void)pthread_setname_np(thread, "check-snapshot");
	error = check_blocks(&first, first_blocks);
	CHECK(pthread_join(thread, NULL) == 0);
	*info = second.info;
	info->items = second.reader.items;
	return error ? error : second.error;
}

int snapshot_check_file(const char *path, uint32_t items_version_known, struct snapshot_info *info,
	const struct complaint *complaint)
{
	int fd = CAN_FAIL(SNAPSHOT_OPEN, open(path, O_RDONLY | O_CLOEXEC));
	int error = fd < 0 ? -errno : check_halves(fd, items_version_known, info);
	if (fd >= 0)
		close(fd);
	return error == 0
		       ? 0
		       : snapshot_read_file(path, items_version_known, NULL, NULL, info, complaint);
}

int snapshot_read_file(const char *path, uint32_t items_version_known, snapshot_visit *visit,
	void *context, struct snapshot_info *info, const struct complaint *complaint)
{
	int fd = CAN_FAIL(SNAPSHOT_OPEN, open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return complain(complaint, -errno, "cannot read the snapshot %s: %s", path,
			error_text(-errno));
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	struct place place = {.fd = fd};
	int error = snapshot_read(&(struct snapshot_source){read_at, &place}, items_version_known,
		visit, context, info, path, complaint);
	close(fd);
	return error;
}
