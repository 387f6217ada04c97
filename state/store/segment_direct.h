// The way of a record to the disk past the page cache: one call writes it and makes it durable, in less time than a
// write and an fdatasync of the file take. One thread at a time.
#pragma once
#include <stdint.h>
#include <sys/uio.h>

// Larger records go through the page cache: they would have to be copied, and there the disk is what takes the time.
#define SEGMENT_DIRECT_BYTES_MAX (64u * 1024u)

struct segment_direct;

// Opens the way into a file that exists. NULL: its file system has none.
struct segment_direct *segment_direct_open(const char *path);
void segment_direct_close(struct segment_direct *); // NULL is allowed
// Writes the pieces, one after another, and zeros up to `bytes`, a multiple of a block and at most
// SEGMENT_DIRECT_BYTES_MAX. Returns 1 when they are durable; 0 when this way does not take them as they are, and the
// caller writes them through the page cache, to the same place; or a negative error of the disk.
int segment_direct_write(struct segment_direct *, const struct iovec *pieces, int count,
	uint64_t bytes, uint64_t offset);
