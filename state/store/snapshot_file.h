// A snapshot file: items in blocks with checksums. Layout at the top of snapshot_file.c. It does not know the content
// of items (state/snapshot/snapshot_view.h).
#pragma once
#include "state/base/bytes.h"
#include "state/store/complaint.h"
#include <stddef.h>
#include <stdint.h>

struct snapshot_writer;

// Creates or replaces the file. Write errors are kept until snapshot_writer_close. Returns 0 or -errno.
int snapshot_writer_open(
	const char *path, uint32_t items_version, uint64_t index, struct snapshot_writer **);
// begin returns the writer to append the item's bytes to; then the item is kept or dropped.
struct bytes_writer *snapshot_item_begin(struct snapshot_writer *);
void snapshot_item_keep(struct snapshot_writer *);
void snapshot_item_drop(struct snapshot_writer *);
// Completes the file and makes it durable, frees the writer. Returns 0 or the first error.
int snapshot_writer_close(struct snapshot_writer *);

// read takes exactly size bytes, or all that are left. Returns how many, or -errno.
struct snapshot_source {
	int64_t (*read)(void *context, void *to, size_t size);
	void *context;
};

struct snapshot_info {
	uint32_t version, items_version;
	uint64_t index, items;
};

typedef int snapshot_visit(void *context, const void *item, uint32_t size);
// Reads and checks a whole file; visits the items (NULL: none) of each block once the block is checked. Returns a
// visitor's error, which ends the reading, as it is and without a complaint; otherwise 0, -ERROR_CORRUPT,
// -ERROR_VERSION or -errno. name is for the complaint.
int snapshot_read(const struct snapshot_source *, uint32_t items_version_known,
	snapshot_visit *visit, void *context, struct snapshot_info *, const char *name,
	const struct complaint *);
// Reads and checks a whole file on two threads, as snapshot_read_file without a visitor.
int snapshot_check_file(const char *path, uint32_t items_version_known, struct snapshot_info *,
	const struct complaint *);
// Like snapshot_read, from a file.
int snapshot_read_file(const char *path, uint32_t items_version_known, snapshot_visit *visit,
	void *context, struct snapshot_info *, const struct complaint *);
