// Compresses answers for clients that ask for it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Smaller answers are sent plain: compression would save no packet.
#define GZIP_BYTES_MIN 1400u
// About what a stream takes, with the bytes that it has not given yet.
#define GZIP_STREAM_BYTES (192u * 1024)

struct gzip;

// Whether a request with this Accept-Encoding (NULL: none) takes gzip.
bool gzip_is_accepted(const char *accept_encoding);

struct gzip *gzip_create(void); // NULL: out of memory; the answer is sent plain
// Compresses the next piece of data, and ends the stream when it is the last. gzip_bytes then gives the output of this
// piece alone, which may be empty.
void gzip_add(struct gzip *, const void *data, size_t size, bool is_last);
const unsigned char *gzip_bytes(const struct gzip *, size_t *size);
void gzip_free(struct gzip *); // NULL is fine
// Compresses data in one go; the caller frees. NULL: out of memory.
unsigned char *gzip_all(const void *data, size_t size, size_t *packed_size);
