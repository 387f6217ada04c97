#include "state/base/schema.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include <malloc.h>
#include <stdlib.h>

static void *field_member(const struct field *f, void *record)
{
	return (char *)record + f->offset;
}

static const void *member_const(const struct field *f, const void *record)
{
	return (const char *)record + f->offset;
}

static bool string_equal(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

// The empty string is kept as NULL in a field, but never inside an array, where it would have to be
// told from a missing item.
static char *string_copy(const char *from)
{
	return from && from[0] ? text_copy(text_of(from)) : NULL;
}

static char *item_string_copy(const char *from)
{
	return text_copy(text_of(from ? from : ""));
}

// Our strings hold no NUL: record_encode never wrote one that does.
static bool string_take(struct bytes_reader *r, struct text *out)
{
	*out = bytes_take_text32(r);
	if (!r->failed && out->size > 0 && memchr(out->data, 0, out->size))
		r->failed = true;
	return !r->failed;
}

static uint32_t enum_limit(const struct field *f)
{
	uint32_t n = 0;
	while (f->names[n])
		n++;
	return n;
}

static bool is_array(enum field_kind kind)
{
	switch (kind) {
	case FIELD_ARRAY:
	case FIELD_STRUCT_MAP:
	case FIELD_STRINGS:
	case FIELD_INTEGERS:
	case FIELD_UUIDS:
	case FIELD_MAP:
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: return true;
	default: return false;
	}
}

static bool is_map(enum field_kind kind)
{
	return kind == FIELD_MAP || kind == FIELD_STRUCT_MAP || kind == FIELD_COUNT_MAP ||
	       kind == FIELD_FLAG_MAP || kind == FIELD_NUMBER_MAP;
}

static size_t item_bytes(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRINGS: return sizeof(char *);
	case FIELD_INTEGERS: return sizeof(int64_t);
	case FIELD_UUIDS: return sizeof(struct uuid);
	case FIELD_MAP: return sizeof(struct string_pair);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return sizeof(struct named_count);
	case FIELD_NUMBER_MAP: return sizeof(struct named_number);
	default: return f->type->size;
	}
}

// The least that one encoded item takes: bounds a count before anything is allocated for it.
static size_t item_encoded_least(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRINGS: return 4;
	case FIELD_INTEGERS:
	case FIELD_MAP: return 8;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: return 12;
	case FIELD_UUIDS: return 16;
	default: return 2;
	}
}

static void item_release(const struct field *f, void *item)
{
	struct string_pair *pair = item;
	switch (f->kind) {
	case FIELD_STRINGS: free(*(char **)item); break;
	case FIELD_INTEGERS:
	case FIELD_UUIDS: break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: free(*(char **)item); break;
	case FIELD_MAP:
		free(pair->name);
		free(pair->value);
		break;
	default: record_release(f->type, item);
	}
}

static void item_copy(const struct field *f, void *to, const void *from)
{
	const struct string_pair *pair = from;
	const struct named_count *count = from;
	switch (f->kind) {
	case FIELD_STRINGS: *(char **)to = item_string_copy(*(char *const *)from); break;
	case FIELD_INTEGERS: *(int64_t *)to = *(const int64_t *)from; break;
	case FIELD_UUIDS: *(struct uuid *)to = *(const struct uuid *)from; break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: // a number is copied by its bits
		*(struct named_count *)to =
			(struct named_count){item_string_copy(count->name), count->count};
		break;
	case FIELD_MAP:
		*(struct string_pair *)to = (struct string_pair){
			item_string_copy(pair->name), item_string_copy(pair->value)};
		break;
	default: record_copy(f->type, to, from);
	}
}

static bool item_equal(const struct field *f, const void *a, const void *b)
{
	const struct string_pair *p = a, *q = b;
	const struct named_count *m = a, *n = b;
	switch (f->kind) {
	case FIELD_STRINGS: return string_equal(*(char *const *)a, *(char *const *)b);
	case FIELD_INTEGERS: return *(const int64_t *)a == *(const int64_t *)b;
	case FIELD_UUIDS: return uuid_equal(a, b);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: return string_equal(m->name, n->name) && m->count == n->count;
	case FIELD_MAP: return string_equal(p->name, q->name) && string_equal(p->value, q->value);
	default: return record_equal(f->type, a, b);
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
	case FIELD_NUMBER_MAP:
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
	case FIELD_FLAG_MAP:
	case FIELD_NUMBER_MAP: return count_decode(item, r);
	default: return record_decode(f->type, item, r);
	}
}

static void *item_at(const struct field *f, const struct array *a, uint32_t i)
{
	return (char *)a->items + (size_t)i * item_bytes(f);
}

static void array_release(const struct field *f, struct array *a)
{
	for (uint32_t i = 0; i < a->count; i++)
		item_release(f, item_at(f, a, i));
	free(a->items);
	*a = (struct array){0};
}

static void array_copy(const struct field *f, struct array *to, const struct array *from)
{
	*to = (struct array){0};
	if (from->count == 0)
		return;
	to->items = memory_take_array(from->count, item_bytes(f));
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++)
		item_copy(f, item_at(f, to, i), item_at(f, from, i));
}

static bool array_equal(const struct field *f, const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!item_equal(f, item_at(f, a, i), item_at(f, b, i)))
			return false;
	return true;
}

static void array_encode(const struct field *f, const struct array *a, struct bytes_writer *w)
{
	bytes_put_u32(w, a->count);
	for (uint32_t i = 0; i < a->count; i++)
		item_encode(f, item_at(f, a, i), w);
}

static bool names_ascend(const struct field *f, const struct array *a)
{
	for (uint32_t i = 1; i < a->count; i++) {
		const char *before = *(char *const *)item_at(f, a, i - 1);
		const char *name = *(char *const *)item_at(f, a, i);
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
		int error = item_decode(f, array_append(a, item_bytes(f)), r);
		if (error < 0)
			return error;
	}
	return is_map(f->kind) && !names_ascend(f, a) ? -ERROR_CORRUPT : 0;
}

static size_t scalar_bytes(enum field_kind kind)
{
	switch (kind) {
	case FIELD_BOOL: return sizeof(bool);
	case FIELD_U8: return sizeof(uint8_t);
	case FIELD_U16: return sizeof(uint16_t);
	case FIELD_U32: return sizeof(uint32_t);
	case FIELD_TEXT: return sizeof(struct text);
	case FIELD_ENUM: return sizeof(int);
	case FIELD_UUID: return sizeof(struct uuid);
	case FIELD_OPTIONAL_I64: return sizeof(struct optional_i64);
	case FIELD_OPTIONAL_BOOL: return sizeof(struct optional_bool);
	case FIELD_I64:
	case FIELD_U64:
	case FIELD_F64: return sizeof(uint64_t);
	default: return 0;
	}
}

static void field_release(const struct field *f, void *at)
{
	if (is_array(f->kind)) {
		array_release(f, at);
	} else if (f->kind == FIELD_STRUCT) {
		record_release(f->type, at);
	} else if (f->kind == FIELD_OPTIONAL) {
		void **p = at;
		if (*p)
			record_release(f->type, *p);
		free(*p);
		*p = NULL;
	} else if (f->kind == FIELD_STRING || f->kind == FIELD_JSON) {
		free(*(char **)at);
		*(char **)at = NULL;
	}
}

// In a published record an enum or a bool may be written meanwhile (a job's status, and whether it is stable).
static void scalar_copy(enum field_kind kind, void *to, const void *from)
{
	if (kind == FIELD_ENUM)
		*(int *)to = __atomic_load_n((const int *)from, __ATOMIC_RELAXED);
	else if (kind == FIELD_BOOL)
		*(bool *)to = __atomic_load_n((const bool *)from, __ATOMIC_RELAXED);
	else
		memcpy(to, from, scalar_bytes(kind));
}

static void field_copy(const struct field *f, void *to, const void *from)
{
	if (is_array(f->kind)) {
		array_copy(f, to, from);
	} else if (f->kind == FIELD_STRUCT) {
		record_copy(f->type, to, from);
	} else if (f->kind == FIELD_OPTIONAL) {
		const void *source = *(void *const *)from;
		void *copy = source ? memory_take(f->type->size) : NULL;
		if (copy)
			record_copy(f->type, copy, source);
		*(void **)to = copy;
	} else if (f->kind == FIELD_STRING || f->kind == FIELD_JSON) {
		*(char **)to = string_copy(*(char *const *)from);
	} else {
		scalar_copy(f->kind, to, from);
	}
}

static bool optional_equal(const struct field *f, const void *a, const void *b)
{
	if (!a || !b)
		return a == b;
	return record_equal(f->type, a, b);
}

static bool field_equal(const struct field *f, const void *a, const void *b)
{
	const struct optional_i64 *i = a, *j = b;
	const struct optional_bool *p = a, *q = b;
	switch (f->kind) {
	case FIELD_STRUCT: return record_equal(f->type, a, b);
	case FIELD_OPTIONAL: return optional_equal(f, *(void *const *)a, *(void *const *)b);
	case FIELD_STRING:
	case FIELD_JSON: return string_equal(*(char *const *)a, *(char *const *)b);
	case FIELD_TEXT: return text_equal(*(const struct text *)a, *(const struct text *)b);
	case FIELD_OPTIONAL_I64: return i->set == j->set && (!i->set || i->value == j->value);
	case FIELD_OPTIONAL_BOOL: return p->set == q->set && (!p->set || p->value == q->value);
	default:
		if (is_array(f->kind))
			return array_equal(f, a, b);
		return memcmp(a, b, scalar_bytes(f->kind)) == 0;
	}
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
	case FIELD_FIXED: break;
	default: return array_decode(f, at, r);
	}
	return 0;
}

void record_init(const struct record_type *type, void *record)
{
	memset(record, 0, type->size);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (f->kind == FIELD_STRUCT)
			record_init(f->type, field_member(f, record));
	}
	if (type->defaults)
		type->defaults(record);
}

void record_release(const struct record_type *type, void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		field_release(&type->fields[i], field_member(&type->fields[i], record));
	memset(record, 0, type->size);
}

void record_copy(const struct record_type *type, void *to, const void *from)
{
	memset(to, 0, type->size);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		field_copy(f, field_member(f, to), member_const(f, from));
	}
}

bool record_equal(const struct record_type *type, const void *a, const void *b)
{
	return record_equal_except(type, a, b, 0);
}

bool record_equal_except(
	const struct record_type *type, const void *a, const void *b, uint32_t flags)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (f->flags & flags)
			continue;
		if (!field_equal(f, member_const(f, a), member_const(f, b)))
			return false;
	}
	return true;
}

static bool array_is_sound(const struct field *f, const struct array *a)
{
	if (is_map(f->kind) && !names_ascend(f, a))
		return false;
	for (uint32_t i = 0; f->type && i < a->count; i++)
		if (!record_is_sound(f->type, item_at(f, a, i)))
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
	default: return !is_array(f->kind) || array_is_sound(f, at);
	}
}

bool record_is_sound(const struct record_type *type, const void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if (!field_is_sound(&type->fields[i], member_const(&type->fields[i], record)))
			return false;
	return true;
}

void record_encode(const struct record_type *type, const void *record, struct bytes_writer *w)
{
	CHECK(type->field_count <= UINT16_MAX);
	bytes_put_u16(w, (uint16_t)type->field_count);
	for (uint32_t i = 0; i < type->field_count; i++)
		field_encode(&type->fields[i], member_const(&type->fields[i], record), w);
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

#define LIST_SHORT 64u

void *array_append(struct array *a, size_t bytes_each)
{
	CHECK(a->count < UINT32_MAX);
	size_t bytes = ((size_t)a->count + 1) * bytes_each;
	// Most lists are short and kept for long: they have no spare room. A long one grows by half: to move it for
	// each item costs the square of its length.
	if (a->count < LIST_SHORT)
		a->items = memory_resize(a->items, bytes);
	else if (malloc_usable_size(a->items) < bytes)
		a->items = memory_resize(a->items, bytes + bytes / 2);
	void *item = (char *)a->items + (size_t)a->count++ * bytes_each;
	memset(item, 0, bytes_each);
	return item;
}

static int name_compare(const void *a, const void *b)
{
	const char *p = *(char *const *)a, *q = *(char *const *)b;
	return strcmp(p ? p : "", q ? q : "");
}

bool map_sort(struct array *a, size_t bytes_each)
{
	if (a->count < 2)
		return true;
	qsort(a->items, a->count, bytes_each, name_compare);
	const char *item = a->items;
	for (uint32_t i = 1; i < a->count; i++)
		if (name_compare(item + (i - 1) * bytes_each, item + i * bytes_each) == 0)
			return false;
	return true;
}

bool map_find(const struct array *a, size_t bytes_each, const char *name, uint32_t *at)
{
	uint32_t low = 0, high = a->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *there = *(char *const *)((char *)a->items + middle * bytes_each);
		int order = strcmp(name, there ? there : "");
		if (order == 0) {
			*at = middle;
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	*at = low;
	return false;
}

const char *map_get(const struct array *a, const char *name)
{
	uint32_t at;
	return map_find(a, sizeof(struct string_pair), name, &at)
		       ? ARRAY_AT(a, struct string_pair, at)->value
		       : NULL;
}

void *map_item(struct array *a, size_t bytes_each, const char *name)
{
	uint32_t at;
	if (map_find(a, bytes_each, name, &at))
		return (char *)a->items + at * bytes_each;
	array_append(a, bytes_each);
	char *item = (char *)a->items + at * bytes_each;
	memmove(item + bytes_each, item, (a->count - 1 - at) * bytes_each);
	memset(item, 0, bytes_each);
	*(char **)item = item_string_copy(name);
	return item;
}
