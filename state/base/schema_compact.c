// Fields in the order of their table, without their number: what reads them is what wrote them. An integer is a varint
// whose first byte holds six bits and whether it is a difference; large integers (times, indexes) are written as their
// difference to the large one before them. A text begins with a byte: it is NULL, a known one, or follows with its NUL.
#include "state/base/schema_compact.h"
#include "state/base/check.h"
#include "state/base/schema_fields.h"
#include <string.h>

#define TEXT_NULL 0u
#define TEXT_KNOWN 1u // the first of them
#define TEXT_FOLLOWS 255u
#define LARGE (1ull << 32)
#define MORE 0x80u
#define IS_DIFFERENCE 0x40u

struct compaction {
	const struct compact_texts *texts;
	struct bytes_writer *w;
	uint64_t large; // the newest
	size_t items;   // bytes
};

static size_t aligned(size_t bytes)
{
	return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static void put_integer(struct compaction *c, uint64_t value)
{
	bool is_large = value + LARGE >= 2 * LARGE;
	uint64_t said = is_large ? value - c->large : value;
	uint64_t zigzag = said << 1 ^ (uint64_t)((int64_t)said >> 63);
	uint8_t first = (uint8_t)(zigzag & 0x3f) | (is_large ? IS_DIFFERENCE : 0);

	if (is_large)
		c->large = value;
	zigzag >>= 6;
	bytes_put_u8(c->w, first | (zigzag ? MORE : 0));
	while (zigzag) {
		uint8_t next = zigzag & 0x7f;
		zigzag >>= 7;
		bytes_put_u8(c->w, next | (zigzag ? MORE : 0));
	}
}

static void put_text(struct compaction *c, const char *text)
{
	if (!text) {
		bytes_put_u8(c->w, TEXT_NULL);
		return;
	}
	for (uint32_t i = 0; i < c->texts->count; i++) {
		if (strcmp(text, c->texts->texts[i]) != 0)
			continue;
		bytes_put_u8(c->w, (uint8_t)(TEXT_KNOWN + i));
		return;
	}
	bytes_put_u8(c->w, TEXT_FOLLOWS);
	bytes_put(c->w, text, strlen(text) + 1);
}

static void compact_record(struct compaction *, const struct record_type *, const void *record);

static void compact_item(struct compaction *c, const struct field *f, const void *item)
{
	switch (f->kind) {
	case FIELD_INTEGERS: put_integer(c, *(const uint64_t *)item); break;
	case FIELD_UUIDS: bytes_put(c->w, item, sizeof(struct uuid)); break;
	case FIELD_STRINGS: put_text(c, *(char *const *)item); break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
		put_text(c, ((const struct named_count *)item)->name);
		put_integer(c, (uint64_t)((const struct named_count *)item)->count);
		break;
	case FIELD_MAP:
		put_text(c, ((const struct string_pair *)item)->name);
		put_text(c, ((const struct string_pair *)item)->value);
		break;
	default: compact_record(c, f->type, item);
	}
}

static void compact_array(struct compaction *c, const struct field *f, const struct array *a)
{
	put_integer(c, a->count);
	c->items += aligned(a->count * field_item_bytes(f));
	for (uint32_t i = 0; i < a->count; i++)
		compact_item(c, f, field_item_at(f, a, i));
}

static void compact_optional(struct compaction *c, const struct field *f, const void *pointed)
{
	bytes_put_u8(c->w, pointed != NULL);
	if (!pointed)
		return;
	c->items += aligned(f->type->size);
	compact_record(c, f->type, pointed);
}

static void compact_numbers(struct compaction *c, const struct numbers *numbers)
{
	put_integer(c, numbers->there);
	for (uint64_t left = numbers->there; left; left &= left - 1)
		bytes_put(c->w, &numbers->at[__builtin_ctzll(left)], sizeof numbers->at[0]);
}

static void compact_field(struct compaction *c, const struct field *f, const void *at)
{
	const struct optional_i64 *number = at;
	const struct optional_bool *choice = at;

	switch (f->kind) {
	case FIELD_BOOL: bytes_put_u8(c->w, *(const bool *)at); break;
	case FIELD_I64:
	case FIELD_U64: put_integer(c, *(const uint64_t *)at); break;
	case FIELD_ENUM: put_integer(c, (uint64_t)(int64_t) * (const int *)at); break;
	case FIELD_F64: bytes_put(c->w, at, sizeof(double)); break;
	case FIELD_UUID: bytes_put(c->w, at, sizeof(struct uuid)); break;
	case FIELD_STRING:
	case FIELD_JSON: put_text(c, *(char *const *)at); break;
	case FIELD_STRUCT: compact_record(c, f->type, at); break;
	case FIELD_OPTIONAL: compact_optional(c, f, *(void *const *)at); break;
	case FIELD_OPTIONAL_I64:
		bytes_put_u8(c->w, number->set);
		put_integer(c, (uint64_t)number->value);
		break;
	case FIELD_OPTIONAL_BOOL:
		bytes_put_u8(c->w, (uint8_t)(choice->set | choice->value << 1));
		break;
	case FIELD_NUMBERS: compact_numbers(c, at); break;
	case FIELD_FIXED: break;
	default: CHECK(field_is_array(f->kind)); compact_array(c, f, at);
	}
}

static void compact_record(struct compaction *c, const struct record_type *type, const void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		compact_field(c, &type->fields[i], field_member_const(&type->fields[i], record));
}

size_t record_compact(const struct record_type *type, const void *record,
	const struct compact_texts *texts, struct bytes_writer *w)
{
	struct compaction c = {.texts = texts, .w = w};

	CHECK(texts->count <= COMPACT_TEXTS_MAX);
	compact_record(&c, type, record);
	return c.items;
}

struct expansion {
	const struct compact_texts *texts;
	const uint8_t *at;
	char *items; // the next
	uint64_t large;
};

static uint64_t take_integer(struct expansion *e)
{
	uint8_t byte = *e->at++;
	bool is_difference = byte & IS_DIFFERENCE;
	uint64_t zigzag = byte & 0x3f;

	for (uint32_t shift = 6; byte & MORE; shift += 7) {
		byte = *e->at++;
		zigzag |= (uint64_t)(byte & 0x7f) << shift;
	}
	uint64_t said = zigzag >> 1 ^ -(zigzag & 1);
	return is_difference ? (e->large += said) : said;
}

static void take_bytes(struct expansion *e, void *to, size_t size)
{
	memcpy(to, e->at, size);
	e->at += size;
}

static char *take_text(struct expansion *e)
{
	uint8_t code = *e->at++;

	if (code == TEXT_NULL)
		return NULL;
	if (code != TEXT_FOLLOWS)
		return (char *)e->texts->texts[code - TEXT_KNOWN];
	char *text = (char *)e->at;
	e->at += strlen(text) + 1;
	return text;
}

static void *take_items(struct expansion *e, size_t bytes)
{
	void *items = e->items;

	e->items += aligned(bytes);
	return items;
}

static void expand_record(struct expansion *, const struct record_type *, void *record);

static void expand_item(struct expansion *e, const struct field *f, void *item)
{
	switch (f->kind) {
	case FIELD_INTEGERS: *(uint64_t *)item = take_integer(e); break;
	case FIELD_UUIDS: take_bytes(e, item, sizeof(struct uuid)); break;
	case FIELD_STRINGS: *(char **)item = take_text(e); break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
		((struct named_count *)item)->name = take_text(e);
		((struct named_count *)item)->count = (int64_t)take_integer(e);
		break;
	case FIELD_MAP:
		((struct string_pair *)item)->name = take_text(e);
		((struct string_pair *)item)->value = take_text(e);
		break;
	default: expand_record(e, f->type, item);
	}
}

static void expand_array(struct expansion *e, const struct field *f, struct array *a)
{
	a->count = (uint32_t)take_integer(e);
	a->items = a->count ? take_items(e, a->count * field_item_bytes(f)) : NULL;
	for (uint32_t i = 0; i < a->count; i++)
		expand_item(e, f, field_item_at(f, a, i));
}

static void expand_optional(struct expansion *e, const struct field *f, void **at)
{
	*at = *e->at++ ? take_items(e, f->type->size) : NULL;
	if (*at)
		expand_record(e, f->type, *at);
}

static void expand_numbers(struct expansion *e, struct numbers *numbers)
{
	numbers->there = take_integer(e);
	for (uint64_t left = numbers->there; left; left &= left - 1)
		take_bytes(e, &numbers->at[__builtin_ctzll(left)], sizeof numbers->at[0]);
}

static void expand_field(struct expansion *e, const struct field *f, void *at)
{
	uint8_t flags;

	switch (f->kind) {
	case FIELD_BOOL: *(bool *)at = *e->at++; break;
	case FIELD_I64:
	case FIELD_U64: *(uint64_t *)at = take_integer(e); break;
	case FIELD_ENUM: *(int *)at = (int)take_integer(e); break;
	case FIELD_F64: take_bytes(e, at, sizeof(double)); break;
	case FIELD_UUID: take_bytes(e, at, sizeof(struct uuid)); break;
	case FIELD_STRING:
	case FIELD_JSON: *(char **)at = take_text(e); break;
	case FIELD_STRUCT: expand_record(e, f->type, at); break;
	case FIELD_OPTIONAL: expand_optional(e, f, at); break;
	case FIELD_OPTIONAL_I64:
		((struct optional_i64 *)at)->set = *e->at++;
		((struct optional_i64 *)at)->value = (int64_t)take_integer(e);
		break;
	case FIELD_OPTIONAL_BOOL:
		flags = *e->at++;
		*(struct optional_bool *)at = (struct optional_bool){flags & 1, flags >> 1};
		break;
	case FIELD_NUMBERS: expand_numbers(e, at); break;
	case FIELD_FIXED: break;
	default: CHECK(field_is_array(f->kind)); expand_array(e, f, at);
	}
}

static void expand_record(struct expansion *e, const struct record_type *type, void *record)
{
	memset(record, 0, type->size);
	for (uint32_t i = 0; i < type->field_count; i++)
		expand_field(e, &type->fields[i], field_member(&type->fields[i], record));
}

void record_expand(const struct record_type *type, void *record, const struct compact_texts *texts,
	const uint8_t *bytes, void *items)
{
	struct expansion e = {.texts = texts, .at = bytes, .items = items};

	expand_record(&e, type, record);
}

const char *compact_first_text(const struct compact_texts *texts, const uint8_t *bytes)
{
	struct expansion e = {.texts = texts, .at = bytes};

	return take_text(&e);
}
