// A form of records for memory alone, where many are kept for long and few are looked at: numbers take the bytes that
// they need, times what they differ by, texts that many records have a byte. Nothing of it is stored.
#pragma once
#include "state/base/bytes.h"
#include "state/base/schema.h"

// Texts that take a byte, in this order; at most COMPACT_TEXTS_MAX.
struct compact_texts {
	const char *const *texts;
	uint32_t count;
};
#define COMPACT_TEXTS_MAX 250u

// Writes the record. Returns the bytes that record_expand() needs for its structs and arrays.
size_t record_compact(const struct record_type *, const void *record, const struct compact_texts *,
	struct bytes_writer *);
// Fills in a record that equals the compacted one. It points into `items`, which is aligned as a uint64_t, and into
// `bytes`: nothing of it is to be changed or released.
void record_expand(const struct record_type *, void *record, const struct compact_texts *,
	const uint8_t *bytes, void *items);
// The text that is the first field of the compacted record; valid as long as the bytes.
const char *compact_first_text(const struct compact_texts *, const uint8_t *bytes);
