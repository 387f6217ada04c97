// A layout that is said once, for both ways: each function codes one value, into the writer or out of the reader.
// Integers are little-endian. Once something failed, nothing more is written, and what is read are zeros.
#pragma once
#include "state/base/bytes.h"
#include "state/base/schema.h"

struct coder {
	struct bytes_writer *writer; // NULL: it reads
	struct bytes_reader *reader; // NULL: it writes, and changes nothing of the value
	int error;                   // of reading: the first
};

// Codes a value of one type.
typedef void coder_function(struct coder *, void *value);

void coder_write(coder_function *, const void *value, struct bytes_writer *);
// Into zeros, or a value that owns nothing and whose bools were set. Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; after
// an error the value may be there in part.
int coder_read(coder_function *, void *value, struct bytes_reader *);

// It reads, and all that was read so far is there.
static inline bool coder_has_read(const struct coder *c)
{
	return c->reader && !c->reader->failed;
}
// Reading failed, unless error is 0.
void coder_fail(struct coder *, int error);
// Reading fails unless what was read holds.
static inline void coder_require(struct coder *c, bool holds)
{
	if (c->reader && !holds)
		c->reader->failed = true;
}

#define CODE_NUMBER(name, type)                                      \
	static inline void code_##name(struct coder *c, type *value) \
	{                                                            \
		if (c->writer)                                       \
			bytes_put_##name(c->writer, *value);         \
		else                                                 \
			*value = bytes_take_##name(c->reader);       \
	}
CODE_NUMBER(u8, uint8_t)
CODE_NUMBER(u16, uint16_t)
CODE_NUMBER(u32, uint32_t)
CODE_NUMBER(u64, uint64_t)
CODE_NUMBER(f64, double)
// Texts that are read are views.
CODE_NUMBER(text8, struct text)
CODE_NUMBER(text16, struct text)
CODE_NUMBER(text32, struct text)
#undef CODE_NUMBER

static inline void code_i64(struct coder *c, int64_t *value)
{
	code_u64(c, (uint64_t *)value);
}
static inline void code_uuid(struct coder *c, struct uuid *id)
{
	if (c->writer)
		bytes_put_uuid(c->writer, id);
	else
		*id = bytes_take_uuid(c->reader);
}
// A byte that says yes or no.
void code_flag(struct coder *, bool *);
// A u32 count of items that take at least so many bytes each. Takes memory for items that are read: for what can be
// there, not for what is claimed.
void code_items(
	struct coder *, void **items, uint32_t *count, size_t item_bytes, uint32_t bytes_least);
// A record of its own; it is read into memory of its own, or NULL.
void code_record(struct coder *, const struct record_type *, void **record);
