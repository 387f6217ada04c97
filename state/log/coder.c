#include "state/log/coder.h"
#include "state/base/error.h"
#include "state/base/memory.h"

void coder_write(coder_function *code, const void *value, struct bytes_writer *w)
{
	struct coder c = {.writer = w};

	code(&c, (void *)(uintptr_t)value);
}

int coder_read(coder_function *code, void *value, struct bytes_reader *r)
{
	struct coder c = {.reader = r};

	code(&c, value);
	return c.error || !r->failed ? c.error : -ERROR_CORRUPT;
}

void coder_fail(struct coder *c, int error)
{
	if (!c->error)
		c->error = error;
	c->reader->failed |= error != 0;
}

void code_flag(struct coder *c, bool *flag)
{
	uint8_t byte = c->writer && *flag;

	code_u8(c, &byte);
	coder_require(c, byte <= 1);
	if (c->reader)
		*flag = byte == 1;
}

void code_items(
	struct coder *c, void **items, uint32_t *count, size_t item_bytes, uint32_t bytes_least)
{
	code_u32(c, count);
	if (c->writer)
		return;
	coder_require(c, *count <= bytes_left(c->reader) / bytes_least);
	*count = c->reader->failed ? 0 : *count;
	*items = *count ? memory_take_array(*count, item_bytes) : NULL;
}

void code_record(struct coder *c, const struct record_type *type, void **record)
{
	if (c->writer)
		record_encode(type, *record, c->writer);
	else
		coder_fail(c, record_decode_new(type, record, c->reader));
}
