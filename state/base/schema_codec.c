// The binary form of records, by their descriptions.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/schema.h"
#include "state/base/schema_fields.h"
#include <stdlib.h>
#include <string.h>

static uint32_t enum_limit(const struct field *f)
{
	uint32_t n = 0;
	while (f->names[n])
		n++;
	return n;
}

// Our strings hold no NUL: record_encode never wrote one that does.
static bool string_take(struct bytes_reader *r, struct text *out)
{
	*out = bytes_take_text32(r);
	if (!r->failed && out->size > 0 && memchr(out->data, 0, out->size))
		r->failed = true;
	return !r->failed;
}

// The least that one encoded item takes: bounds a count before anything is allocated for it.
static size_t item_encoded_least(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRINGS: return 4;
	case FIELD_INTEGERS:
	case FIELD_MAP: return 8;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return 12;
	case FIELD_UUIDS: return 16;
	default: return 2;
	}
}

static void item_encode(const struct field *f, const void *item, struct bytes_writer *w)
{
	const struct string_pair *pair = item;
	const struct named_count *count = item;
	switch (f->kind) {
	case FIELD_STRINGS: bytes_put_text32(w, text_of(*(char *const *)item)); break;
	case FIELD_INTEGERS: bytes_put_u64(w, (uint64_t) * (const int64_t *)item); break;
	case FIELD_UUIDS: bytes_put_uuid(w, item); break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
		bytes_put_text32(w, text_of(count->name));
		bytes_put_u64(w, (uint64_t)count->count);
		break;
	case FIELD_MAP:
		bytes_put_text32(w, text_of(pair->name));
		bytes_put_text32(w, text_of(pair->value));
		break;
	default: record_encode(f->type, item, w);
	}
}

static int pair_decode(struct string_pair *pair, struct bytes_reader *r)
{
	struct text name, value;
	if (!string_take(r, &name) || !string_take(r, &value))
		return -ERROR_CORRUPT;
	*pair = (struct string_pair){text_copy(name), text_copy(value)};
	return 0;
}

static int count_decode(struct named_count *count, struct bytes_reader *r)
{
	struct text name;
	if (!string_take(r, &name))
		return -ERROR_CORRUPT;
	*count = (struct named_count){text_copy(name), (int64_t)bytes_take_u64(r)};
	return 0;
}

static int item_decode(const struct field *f, void *item, struct bytes_reader *r)
{
	struct text text;
	switch (f->kind) {
	case FIELD_STRINGS:
		if (!string_take(r, &text))
			return -ERROR_CORRUPT;
		*(char **)item = text_copy(text);
		return 0;
	case FIELD_INTEGERS: *(int64_t *)item = (int64_t)bytes_take_u64(r); return 0;
	case FIELD_UUIDS: *(struct uuid *)item = bytes_take_uuid(r); return 0;
	case FIELD_MAP: return pair_decode(item, r);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return count_decode(item, r);
	default: return record_decode(f->type, item, r);
	}
}

static void array_encode(const struct field *f, const struct array *a, struct bytes_writer *w)
{
	bytes_put_u32(w, a->count);
	for (uint32_t i = 0; i < a->count; i++)
		item_encode(f, field_item_at(f, a, i), w);
}

// As strcmp of strings: they hold no NUL.
static int text_order(struct text a, struct text b)
{
	uint32_t size = a.size < b.size ? a.size : b.size;
	int order = size ? memcmp(a.data, b.data, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool names_ascend(const struct field *f, const struct array *a)
{
	for (uint32_t i = 1; i < a->count; i++) {
		const char *before = *(char *const *)field_item_at(f, a, i - 1);
		const char *name = *(char *const *)field_item_at(f, a, i);
		if (strcmp(before ? before : "", name ? name : "") >= 0)
			return false;
	}
	return true;
}

// Appends items one by one, so that memory grows with the bytes present, not with the claimed count.
static int array_decode(const struct field *f, struct array *a, struct bytes_reader *r)
{
	uint32_t count = bytes_take_u32(r);
	if (r->failed || count > bytes_left(r) / item_encoded_least(f))
		return -ERROR_CORRUPT;
	for (uint32_t i = 0; i < count; i++) {
		int error = item_decode(f, array_append(a, field_item_bytes(f)), r);
		if (error < 0)
			return error;
	}
	return field_is_map(f->kind) && !names_ascend(f, a) ? -ERROR_CORRUPT : 0;
}

// The names of a field's numbers as they are encoded. Five nodes' scores are kept of each placement, so that what never
// changes is not made again.
#define NUMBER_NAME_BYTES 32u
struct number_names {
	const struct field *field;
	uint32_t sizes[NUMBERS_MAX];
	uint8_t encoded[NUMBERS_MAX][NUMBER_NAME_BYTES];
};

static void number_names_make(struct number_names *names, const struct field *f)
{
	names->field = f;
	for (uint32_t i = 0; i < NUMBERS_MAX && f->names[i]; i++) {
		struct bytes_writer w = bytes_writer_over(names->encoded[i], NUMBER_NAME_BYTES);

		bytes_put_text32(&w, text_of(f->names[i]));
		CHECK(!w.failed);
		names->sizes[i] = (uint32_t)w.size;
	}
}

static void numbers_encode(
	const struct field *f, const struct numbers *numbers, struct bytes_writer *w)
{
	static _Thread_local struct number_names names;
	uint8_t encoded[4 + NUMBERS_MAX * (NUMBER_NAME_BYTES + sizeof(uint64_t))],
		*end = encoded + 4;
	uint32_t count = 0;

	if (names.field != f)
		number_names_make(&names, f);
	for (uint64_t left = numbers->there; left; left &= left - 1, count++) {
		int at = __builtin_ctzll(left);
		uint64_t bits;

		memcpy(&bits, &numbers->at[at], sizeof bits);
		bits = htole64(bits);
		memcpy(end, names.encoded[at], NUMBER_NAME_BYTES); // of a fixed size: no call
		memcpy(end + names.sizes[at], &bits, sizeof bits);
		end += names.sizes[at] + sizeof bits;
	}
	count = htole32(count);
	memcpy(encoded, &count, sizeof count);
	bytes_put(w, encoded, (size_t)(end - encoded));
}

static void field_encode(const struct field *f, const void *at, struct bytes_writer *w)
{
	const struct optional_i64 *number = at;
	const struct optional_bool *flag = at;
	const void *pointed;
	switch (f->kind) {
	// Flags and words of a published record may change beside its readers (a job's status); nothing else may.
	case FIELD_BOOL:
		bytes_put_u8(w, __atomic_load_n((const bool *)at, __ATOMIC_RELAXED));
		break;
	case FIELD_I64:
	case FIELD_U64: bytes_put_u64(w, *(const uint64_t *)at); break;
	case FIELD_U8: bytes_put_u8(w, *(const uint8_t *)at); break;
	case FIELD_U16: bytes_put_u16(w, *(const uint16_t *)at); break;
	case FIELD_U32: bytes_put_u32(w, *(const uint32_t *)at); break;
	case FIELD_TEXT: bytes_put_text32(w, *(const struct text *)at); break;
	case FIELD_F64: bytes_put_f64(w, *(const double *)at); break;
	case FIELD_ENUM:
		bytes_put_u16(w, (uint16_t)__atomic_load_n((const int *)at, __ATOMIC_RELAXED));
		break;
	case FIELD_UUID: bytes_put_uuid(w, at); break;
	case FIELD_STRUCT: record_encode(f->type, at, w); break;
	case FIELD_OPTIONAL:
		pointed = *(void *const *)at;
		bytes_put_u8(w, pointed != NULL);
		if (pointed)
			record_encode(f->type, pointed, w);
		break;
	case FIELD_STRING:
	case FIELD_JSON: bytes_put_text32(w, text_of(*(char *const *)at)); break;
	case FIELD_OPTIONAL_I64:
		bytes_put_u8(w, number->set);
		bytes_put_u64(w, number->set ? (uint64_t)number->value : 0);
		break;
	case FIELD_OPTIONAL_BOOL: bytes_put_u8(w, flag->set ? 1 + flag->value : 0); break;
	case FIELD_NUMBERS: numbers_encode(f, at, w); break;
	case FIELD_FIXED: break;
	default: array_encode(f, at, w);
	}
}

// Takes a byte that is 0 or 1; we wrote nothing else.
static bool flag_take(struct bytes_reader *r)
{
	uint8_t byte = bytes_take_u8(r);
	if (byte > 1)
		r->failed = true;
	return byte == 1;
}

static int optional_decode(const struct field *f, void **at, struct bytes_reader *r)
{
	if (!flag_take(r) || r->failed)
		return 0;
	*at = memory_take(f->type->size);
	return record_decode(f->type, *at, r);
}

static void optional_bool_decode(struct optional_bool *out, struct bytes_reader *r)
{
	uint8_t byte = bytes_take_u8(r);
	if (byte > 2)
		r->failed = true;
	*out = (struct optional_bool){.set = byte > 0, .value = byte == 2};
}

// Names come in order, as numbers_encode() writes them.
static void numbers_decode(const struct field *f, struct numbers *out, struct bytes_reader *r)
{
	struct text name;
	uint32_t at = 0;

	*out = (struct numbers){0};
	for (uint32_t left = bytes_take_u32(r); left > 0 && !r->failed; left--, at++) {
		string_take(r, &name);
		while (at < NUMBERS_MAX && f->names[at] && !text_equal(text_of(f->names[at]), name))
			at++;
		if (r->failed || at == NUMBERS_MAX || !f->names[at]) {
			r->failed = true;
			return;
		}
		out->there |= 1ull << at;
		out->at[at] = bytes_take_f64(r);
	}
}

static void enum_decode(const struct field *f, int *out, struct bytes_reader *r)
{
	uint16_t value = bytes_take_u16(r);
	if (value >= enum_limit(f))
		r->failed = true;
	*out = r->failed ? 0 : value;
}

static void string_decode(char **out, struct bytes_reader *r)
{
	struct text text;
	if (string_take(r, &text) && text.size > 0)
		*out = text_copy(text);
}

// Over a field that owns nothing.
static int field_decode(const struct field *f, void *at, struct bytes_reader *r)
{
	struct optional_i64 *number = at;
	switch (f->kind) {
	case FIELD_BOOL: *(bool *)at = flag_take(r); break;
	case FIELD_I64:
	case FIELD_U64: *(uint64_t *)at = bytes_take_u64(r); break;
	case FIELD_U8: *(uint8_t *)at = bytes_take_u8(r); break;
	case FIELD_U16: *(uint16_t *)at = bytes_take_u16(r); break;
	case FIELD_U32: *(uint32_t *)at = bytes_take_u32(r); break;
	case FIELD_TEXT: *(struct text *)at = bytes_take_text32(r); break;
	case FIELD_F64: *(double *)at = bytes_take_f64(r); break;
	case FIELD_ENUM: enum_decode(f, at, r); break;
	case FIELD_UUID: *(struct uuid *)at = bytes_take_uuid(r); break;
	case FIELD_STRUCT: return record_decode(f->type, at, r);
	case FIELD_OPTIONAL: return optional_decode(f, at, r);
	case FIELD_STRING:
	case FIELD_JSON: string_decode(at, r); break;
	case FIELD_OPTIONAL_I64:
		number->set = flag_take(r);
		number->value = (int64_t)bytes_take_u64(r);
		break;
	case FIELD_OPTIONAL_BOOL: optional_bool_decode(at, r); break;
	case FIELD_NUMBERS: numbers_decode(f, at, r); break;
	case FIELD_FIXED: break;
	default: return array_decode(f, at, r);
	}
	return 0;
}

// What may come in place of a scalar.
union scalar {
	uint64_t number;
	double real;
	struct uuid id;
	struct text text;
	struct optional_i64 optional;
	struct optional_bool choice;
	struct numbers numbers;
};

static int record_walk(
	const struct record_type *, void *record, struct text *name, struct bytes_reader *);

// Walks over one item; *name is the name of one of a map.
static int item_walk(const struct field *f, struct text *name, struct bytes_reader *r)
{
	union scalar scalar;
	struct text value;

	switch (f->kind) {
	case FIELD_STRINGS: return string_take(r, name) ? 0 : -ERROR_CORRUPT;
	case FIELD_MAP: return string_take(r, name) && string_take(r, &value) ? 0 : -ERROR_CORRUPT;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
		if (!string_take(r, name))
			return -ERROR_CORRUPT;
		(void)bytes_take_u64(r);
		return 0;
	case FIELD_INTEGERS:
	case FIELD_UUIDS: return item_decode(f, &scalar, r);
	default: return record_walk(f->type, NULL, name, r);
	}
}

static int array_walk(const struct field *f, struct bytes_reader *r)
{
	struct text before = {0}, name = {0};
	uint32_t count = bytes_take_u32(r);
	bool ascends = true;

	if (r->failed || count > bytes_left(r) / item_encoded_least(f))
		return -ERROR_CORRUPT;
	for (uint32_t i = 0; i < count; i++, before = name) {
		int error = item_walk(f, &name, r);
		if (error < 0)
			return error;
		ascends &= i == 0 || text_order(before, name) < 0;
	}
	return field_is_map(f->kind) && !ascends ? -ERROR_CORRUPT : 0;
}

// name: where a string goes that the record begins with.
static int field_walk(
	const struct field *f, void *record, struct text *name, struct bytes_reader *r)
{
	union scalar scalar;
	struct text text;

	if (field_is_scalar(f->kind))
		return field_decode(f, record ? field_member(f, record) : &scalar, r);
	switch (f->kind) {
	case FIELD_STRUCT: return record_walk(f->type, NULL, NULL, r);
	case FIELD_OPTIONAL:
		return flag_take(r) && !r->failed ? record_walk(f->type, NULL, NULL, r) : 0;
	case FIELD_STRING:
	case FIELD_JSON:
		string_take(r, &text);
		if (name && f->offset == 0)
			*name = text;
		return 0;
	default: return array_walk(f, r);
	}
}

static int record_walk(
	const struct record_type *type, void *record, struct text *name, struct bytes_reader *r)
{
	uint16_t stored = bytes_take_u16(r);

	if (!r->failed && stored > type->field_count)
		return -ERROR_VERSION;
	if (stored == 0 && type->field_count > 0)
		return -ERROR_CORRUPT;
	for (uint32_t i = 0; i < stored && !r->failed; i++) {
		int error = field_walk(&type->fields[i], record, name, r);
		if (error < 0)
			return error;
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

int record_decode_scalars(const struct record_type *type, void *record, struct bytes_reader *r)
{
	memset(record, 0, type->size);
	int error = record_walk(type, record, NULL, r);
	if (error < 0) {
		r->failed = true;
		memset(record, 0, type->size);
	}
	return error;
}

static bool array_is_sound(const struct field *f, const struct array *a)
{
	if (a->count == 0)
		return true;
	if (field_is_map(f->kind) && !names_ascend(f, a))
		return false;
	bool is_plain = !f->type || type_is_plain(f->type);
	for (uint32_t i = 0; i < a->count && !is_plain; i++)
		if (!record_is_sound(f->type, field_item_at(f, a, i)))
			return false;
	return true;
}

static bool field_is_sound(const struct field *f, const void *at)
{
	const void *pointed;
	switch (f->kind) {
	case FIELD_ENUM:
		return *(const int *)at >= 0 && (uint32_t) * (const int *)at < enum_limit(f);
	case FIELD_STRUCT: return record_is_sound(f->type, at);
	case FIELD_OPTIONAL:
		pointed = *(void *const *)at;
		return !pointed || record_is_sound(f->type, pointed);
	default: return !field_is_array(f->kind) || array_is_sound(f, at);
	}
}

// Most fields are scalars, which are sound unless they are enums.
bool record_is_sound(const struct record_type *type, const void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (field_is_scalar(f->kind) && f->kind != FIELD_ENUM)
			continue;
		if (!field_is_sound(f, field_member_const(f, record)))
			return false;
	}
	return true;
}

void record_encode(const struct record_type *type, const void *record, struct bytes_writer *w)
{
	CHECK(type->field_count <= UINT16_MAX);
	bytes_put_u16(w, (uint16_t)type->field_count);
	for (uint32_t i = 0; i < type->field_count; i++)
		field_encode(&type->fields[i], field_member_const(&type->fields[i], record), w);
}

int record_decode(const struct record_type *type, void *record, struct bytes_reader *r)
{
	record_init(type, record);
	uint16_t stored = bytes_take_u16(r);
	int error = 0;
	if (!r->failed && stored > type->field_count)
		error = -ERROR_VERSION;
	else if (stored == 0 && type->field_count > 0) // tables only grow: nobody wrote this
		error = -ERROR_CORRUPT;
	for (uint32_t i = 0; i < stored && error == 0 && !r->failed; i++) {
		const struct field *f = &type->fields[i];
		field_release(f, field_member(f, record));
		error = field_decode(f, field_member(f, record), r);
	}
	if (error == 0 && r->failed)
		error = -ERROR_CORRUPT;
	if (error < 0) {
		r->failed = true;
		record_release(type, record);
	}
	return error;
}

int record_decode_new(const struct record_type *type, void **record, struct bytes_reader *r)
{
	void *decoded = memory_take(type->size);
	int error = record_decode(type, decoded, r);

	if (error)
		free(decoded);
	*record = error ? NULL : decoded;
	return error;
}
