// A new file that is written once from its beginning to its end, past the page cache where its file system lets that
// be: a large file then takes neither the processor's time to copy it there nor the place of what others read. One
// thread at a time.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct direct_stream;

// Creates the file, or empties it. Returns 0 or a negative error.
int direct_stream_create(const char *path, struct direct_stream **);
// The first error is kept, and later calls do nothing.
void direct_stream_write(struct direct_stream *, const void *data, size_t size);
// Makes the file durable and closes it. Returns 0 or the first error, a negative number.
int direct_stream_close(struct direct_stream *);
