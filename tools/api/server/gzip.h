// Answers compressed for clients that ask for it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// What is smaller is sent as it is: compressing it would save no packet.
#define GZIP_BYTES_MIN 1400u

struct gzip;

// Whether a request with this Accept-Encoding (NULL: none) takes gzip.
bool gzip_is_accepted(const char *accept_encoding);

struct gzip *gzip_create(void); // NULL: out of memory; the answer goes as it is
// Compresses what follows what it had before; ends the stream when it is the last. The bytes that this
// makes, perhaps none yet, replace those that it made before.
void gzip_add(struct gzip *, const void *data, size_t size, bool is_last);
const unsigned char *gzip_bytes(const struct gzip *, size_t *size);
void gzip_free(struct gzip *); // NULL is fine
// The whole in one go; the caller frees. NULL: out of memory.
unsigned char *gzip_all(const void *data, size_t size, size_t *packed_size);
