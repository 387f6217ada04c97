// Sums of records, by their descriptions: of equal records, of which record_equal() says so, they are equal.
#include "state/base/schema_fields.h"
#include "state/tables/sum.h"

static uint64_t item_sum(const struct field *f, const void *item, uint64_t sum)
{
	const struct string_pair *pair = item;
	const struct named_count *count = item;
	switch (f->kind) {
	case FIELD_STRINGS: return sum_string(sum, *(char *const *)item);
	case FIELD_INTEGERS: return sum_u64(sum, (uint64_t) * (const int64_t *)item);
	case FIELD_UUIDS: return sum_uuid(sum, item);
	case FIELD_COUNT_MAP:
	case FIELD_FLAG_MAP: return sum_u64(sum_string(sum, count->name), (uint64_t)count->count);
	case FIELD_MAP: return sum_string(sum_string(sum, pair->name), pair->value);
	default: return record_sum(f->type, item, sum);
	}
}

static uint64_t array_sum(const struct field *f, const struct array *a, uint64_t sum)
{
	sum = sum_u64(sum, a->count);
	for (uint32_t i = 0; i < a->count; i++)
		sum = item_sum(f, field_item_at(f, a, i), sum);
	return sum;
}

static uint64_t optional_sum(const struct field *f, const void *record, uint64_t sum)
{
	sum = sum_u64(sum, record != NULL);
	return record ? record_sum(f->type, record, sum) : sum;
}

// As of a map with these names.
static uint64_t numbers_sum(const struct field *f, const struct numbers *numbers, uint64_t sum)
{
	sum = sum_u64(sum, (uint64_t)__builtin_popcountll(numbers->there));
	for (uint64_t left = numbers->there; left; left &= left - 1) {
		int at = __builtin_ctzll(left);
		uint64_t bits;
		memcpy(&bits, &numbers->at[at], sizeof bits);
		sum = sum_u64(sum_string(sum, f->names[at]), bits);
	}
	return sum;
}

static uint64_t number_sum(const struct field *f, const void *at, uint64_t sum)
{
	const struct optional_i64 *i = at;
	const struct optional_bool *b = at;
	switch (f->kind) {
	case FIELD_BOOL: return sum_u64(sum, *(const bool *)at);
	case FIELD_U8: return sum_u64(sum, *(const uint8_t *)at);
	case FIELD_U16: return sum_u64(sum, *(const uint16_t *)at);
	case FIELD_U32: return sum_u64(sum, *(const uint32_t *)at);
	case FIELD_ENUM: return sum_u64(sum, (uint64_t) * (const int *)at);
	case FIELD_OPTIONAL_I64:
		return sum_u64(sum_u64(sum, i->set), i->set ? (uint64_t)i->value : 0);
	case FIELD_OPTIONAL_BOOL: return sum_u64(sum, b->set ? 1u + b->value : 0);
	case FIELD_I64:
	case FIELD_U64:
	case FIELD_F64: return sum_u64(sum, *(const uint64_t *)at);
	default: return sum; // stores nothing
	}
}

static uint64_t field_sum(const struct field *f, const void *at, uint64_t sum)
{
	const struct text *text = at;
	switch (f->kind) {
	case FIELD_STRUCT: return record_sum(f->type, at, sum);
	case FIELD_OPTIONAL: return optional_sum(f, *(void *const *)at, sum);
	case FIELD_STRING:
	case FIELD_JSON: return sum_string(sum, *(char *const *)at);
	case FIELD_NUMBERS: return numbers_sum(f, at, sum);
	case FIELD_TEXT: return sum_bytes(sum, text->data, text->size);
	case FIELD_UUID: return sum_uuid(sum, at);
	default: return field_is_array(f->kind) ? array_sum(f, at, sum) : number_sum(f, at, sum);
	}
}

uint64_t record_sum(const struct record_type *type, const void *record, uint64_t sum)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		sum = field_sum(f, field_member_const(f, record), sum);
	}
	return sum;
}
