#include "state/base/memory.h"
#include "state/base/schema.h"
#include "state/base/schema_fields.h"
#include <stdlib.h>

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

static void item_release(const struct field *f, void *item)
{
	struct string_pair *pair = item;
	switch (f->kind) {
	case FIELD_STRINGS: free(*(char **)item); break;
	case FIELD_INTEGERS:
	case FIELD_UUIDS: break;
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: free(*(char **)item); break;
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

static bool item_equal(const struct field *f, const void *a, const void *b, uint32_t except)
{
	const struct string_pair *p = a, *q = b;
	const struct named_count *m = a, *n = b;
	switch (f->kind) {
	case FIELD_STRINGS: return string_equal(*(char *const *)a, *(char *const *)b);
	case FIELD_INTEGERS: return *(const int64_t *)a == *(const int64_t *)b;
	case FIELD_UUIDS: return uuid_equal(a, b);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return string_equal(m->name, n->name) && m->count == n->count;
	case FIELD_MAP: return string_equal(p->name, q->name) && string_equal(p->value, q->value);
	default: return record_equal_except(f->type, a, b, except);
	}
}

static void array_release(const struct field *f, struct array *a)
{
	if (!a->items)
		return;
	bool own_nothing = f->type && type_is_plain(f->type);
	for (uint32_t i = 0; i < a->count && !own_nothing; i++)
		item_release(f, field_item_at(f, a, i));
	free(a->items);
	*a = (struct array){0};
}

static void array_copy(const struct field *f, struct array *to, const struct array *from)
{
	*to = (struct array){0};
	if (from->count == 0)
		return;
	to->items = memory_take_array(from->count, field_item_bytes(f));
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++)
		item_copy(f, field_item_at(f, to, i), field_item_at(f, from, i));
}

static bool array_equal(
	const struct field *f, const struct array *a, const struct array *b, uint32_t except)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!item_equal(f, field_item_at(f, a, i), field_item_at(f, b, i), except))
			return false;
	return true;
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
	case FIELD_NUMBERS: return sizeof(struct numbers);
	case FIELD_I64:
	case FIELD_U64:
	case FIELD_F64: return sizeof(uint64_t);
	default: return 0;
	}
}

void field_release(const struct field *f, void *at)
{
	if (field_is_array(f->kind)) {
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
	if (field_is_array(f->kind)) {
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

static bool optional_equal(const struct field *f, const void *a, const void *b, uint32_t except)
{
	if (!a || !b)
		return a == b;
	return record_equal_except(f->type, a, b, except);
}

static bool field_equal(const struct field *f, const void *a, const void *b, uint32_t except)
{
	const struct optional_i64 *i = a, *j = b;
	const struct optional_bool *p = a, *q = b;
	switch (f->kind) {
	case FIELD_STRUCT: return record_equal_except(f->type, a, b, except);
	case FIELD_OPTIONAL: return optional_equal(f, *(void *const *)a, *(void *const *)b, except);
	case FIELD_STRING:
	case FIELD_JSON: return string_equal(*(char *const *)a, *(char *const *)b);
	case FIELD_TEXT: return text_equal(*(const struct text *)a, *(const struct text *)b);
	case FIELD_OPTIONAL_I64: return i->set == j->set && (!i->set || i->value == j->value);
	case FIELD_OPTIONAL_BOOL: return p->set == q->set && (!p->set || p->value == q->value);
	default:
		if (field_is_array(f->kind))
			return array_equal(f, a, b, except);
		return memcmp(a, b, scalar_bytes(f->kind)) == 0;
	}
}

static void field_init(const struct field *f, void *member)
{
	if (f->kind == FIELD_STRUCT)
		record_init(f->type, member);
	else if (f->kind == FIELD_BOOL)
		*(bool *)member = true;
	else
		*(int64_t *)member = f->initial;
}

void record_init(const struct record_type *type, void *record)
{
	memset(record, 0, type->size);
	for (const struct field *f = type->fields, *end = f + type->field_count; f < end; f++)
		if (f->initial || f->kind == FIELD_STRUCT)
			field_init(f, field_member(f, record));
}

// Whether the field may own something: all but structs that do begin with a pointer to it.
static inline bool field_owns(const struct field *f, const void *at)
{
	return !field_is_scalar(f->kind) && (f->kind == FIELD_STRUCT || *(void *const *)at);
}

void record_release(const struct record_type *type, void *record)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		if (field_owns(f, field_member(f, record)))
			field_release(f, field_member(f, record));
	}
	memset(record, 0, type->size);
}

void record_copy(const struct record_type *type, void *to, const void *from)
{
	memset(to, 0, type->size);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		field_copy(f, field_member(f, to), field_member_const(f, from));
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
		if (!field_equal(f, field_member_const(f, a), field_member_const(f, b), flags))
			return false;
	}
	return true;
}

void *record_create(const struct record_type *type)
{
	void *record = memory_take(type->size);

	record_init(type, record);
	return record;
}

void *record_duplicate(const struct record_type *type, const void *from)
{
	void *record = memory_take(type->size);

	record_copy(type, record, from);
	return record;
}

void record_free(const struct record_type *type, void *record)
{
	if (record)
		record_release(type, record);
	free(record);
}
