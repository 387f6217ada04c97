// Where the fields of a record are and what their items take: what its codec and its other functions share.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"

static inline void *field_member(const struct field *f, void *record)
{
	return (char *)record + f->offset;
}

static inline const void *field_member_const(const struct field *f, const void *record)
{
	return (const char *)record + f->offset;
}

// A bit for each kind.
#define FIELD_BIT(kind) (1u << (kind))
#define FIELD_ARRAY_BITS                                                                    \
	(FIELD_BIT(FIELD_ARRAY) | FIELD_BIT(FIELD_STRUCT_MAP) | FIELD_BIT(FIELD_STRINGS) |  \
		FIELD_BIT(FIELD_INTEGERS) | FIELD_BIT(FIELD_UUIDS) | FIELD_BIT(FIELD_MAP) | \
		FIELD_BIT(FIELD_COUNT_MAP) | FIELD_BIT(FIELD_FLAG_MAP))
#define FIELD_OWNER_BITS                                                          \
	(FIELD_ARRAY_BITS | FIELD_BIT(FIELD_STRUCT) | FIELD_BIT(FIELD_OPTIONAL) | \
		FIELD_BIT(FIELD_STRING) | FIELD_BIT(FIELD_JSON))

static inline bool field_is_array(enum field_kind kind)
{
	return FIELD_ARRAY_BITS >> kind & 1;
}

static inline bool field_is_scalar(enum field_kind kind)
{
	return !(FIELD_OWNER_BITS >> kind & 1);
}

// Whether records own nothing, and nothing in them can be unsound.
static inline bool type_is_plain(const struct record_type *type)
{
	bool is_plain = true;

	for (uint32_t i = 0; i < type->field_count; i++)
		is_plain &=
			field_is_scalar(type->fields[i].kind) && type->fields[i].kind != FIELD_ENUM;
	return is_plain;
}

static inline bool field_is_map(enum field_kind kind)
{
	return kind == FIELD_MAP || kind == FIELD_STRUCT_MAP || kind == FIELD_COUNT_MAP ||
	       kind == FIELD_FLAG_MAP;
}

static inline size_t field_item_bytes(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRINGS: return sizeof(char *);
	case FIELD_INTEGERS: return sizeof(int64_t);
	case FIELD_UUIDS: return sizeof(struct uuid);
	case FIELD_MAP: return sizeof(struct string_pair);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return sizeof(struct named_count);
	default: return f->type->size;
	}
}

static inline void *field_item_at(const struct field *f, const struct array *a, uint32_t i)
{
	return (char *)a->items + (size_t)i * field_item_bytes(f);
}

// Frees what the field owns; array and pointers are empty then.
void field_release(const struct field *, void *at);
