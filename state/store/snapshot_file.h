// A snapshot file: items in blocks with checksums. Layout at the top of snapshot_file.c. What an
// item holds is not known here (state/snapshot/snapshot_view.h).
#pragma once
#include "state/base/bytes.h"
#include "state/store/complaint.h"
#include <stddef.h>
#include <stdint.h>

struct snapshot_writer;

// Creates or replaces. Errors of writing are kept and returned by the end. Returns 0 or -errno.
int snapshot_writer_open(
	const char *path, uint32_t items_version, uint64_t index, struct snapshot_writer **);
// The item's bytes are appended to what begin returns; then it is kept or dropped.
struct bytes_writer *snapshot_item_begin(struct snapshot_writer *);
void snapshot_item_keep(struct snapshot_writer *);
void snapshot_item_drop(struct snapshot_writer *);
// Completes the file and makes it durable, frees the writer. Returns 0 or the first error.
int snapshot_writer_close(struct snapshot_writer *);

// Reads exactly size bytes, or as many as there are. Returns how many, or -errno.
struct snapshot_source {
	int64_t (*read)(void *context, void *to, size_t size);
	void *context;
};

struct snapshot_info {
	uint32_t version, items_version;
	uint64_t index, items;
};

typedef int snapshot_visit(void *context, const void *item, uint32_t size);
// Reads a whole file and checks all of it; visits items (NULL: none) as their block is found good.
// An error of the visitor ends the reading and is returned as it is, without a complaint. Returns
// 0, -ERROR_CORRUPT, -ERROR_VERSION or -errno. name is for the complaint.
int snapshot_read(const struct snapshot_source *, uint32_t items_version_known,
	snapshot_visit *visit, void *context, struct snapshot_info *, const char *name,
	const struct complaint *);
// The same of a file.
int snapshot_read_file(const char *path, uint32_t items_version_known, snapshot_visit *visit,
	void *context, struct snapshot_info *, const struct complaint *);
