// How values are made.
#pragma once
#include "tools/hcl2/hcl2.h"

// Bits of a number's fraction.
#define HCL2_PRECISION 512

extern const struct hcl2_type hcl2_any;
extern const struct hcl2_value hcl2_null; // of no type

const struct hcl2_type *type_of_elements(
	struct hcl2_run *, enum hcl2_kind, const struct hcl2_type *element);
const struct hcl2_type *type_of_members(struct hcl2_run *, enum hcl2_kind, uint32_t count,
	const struct hcl2_type *const *members, const struct text *names);
bool type_is_equal(struct hcl2_run *, const struct hcl2_type *, const struct hcl2_type *);
static inline bool kind_is_sequence(enum hcl2_kind kind)
{
	return kind == HCL2_LIST || kind == HCL2_SET || kind == HCL2_TUPLE;
}
static inline bool kind_is_mapping(enum hcl2_kind kind)
{
	return kind == HCL2_MAP || kind == HCL2_OBJECT;
}

const struct hcl2_value *value_null(struct hcl2_run *, const struct hcl2_type *);
const struct hcl2_value *value_bool(struct hcl2_run *, bool);
// Composes the text; it is copied only where that changes it.
const struct hcl2_value *value_string(struct hcl2_run *, struct text);
const struct hcl2_value *value_of_string(struct hcl2_run *, const char *string);
const struct hcl2_value *value_int(struct hcl2_run *, int64_t);
const struct hcl2_value *value_double(struct hcl2_run *, double);
// A number to compute into; value_number() makes a value of it.
mpfr_ptr number_new(struct hcl2_run *);
const struct hcl2_value *value_number(struct hcl2_run *, mpfr_srcptr);
// NULL: the text is no number.
const struct hcl2_value *value_parse_number(struct hcl2_run *, struct text);
// A tuple of the items, which are not copied.
const struct hcl2_value *value_tuple(
	struct hcl2_run *, const struct hcl2_value *const *items, uint32_t count);
// A list, set or map of items of its element type; keys in order. A set is ordered, and has none twice.
const struct hcl2_value *value_collection(struct hcl2_run *, const struct hcl2_type *,
	const struct hcl2_value *const *items, const struct text *keys, uint32_t count);
const struct hcl2_value *value_object(struct hcl2_run *, const struct hcl2_value *const *items,
	const struct text *keys, uint32_t count);
bool value_is_equal(struct hcl2_run *, const struct hcl2_value *, const struct hcl2_value *);

// Members in the order in which they come; a later one replaces an earlier one of its name.
struct members {
	uint32_t count, room;
	struct text *keys;
	const struct hcl2_value **items;
};
void members_put(struct hcl2_run *, struct members *, struct text key, const struct hcl2_value *);
// Sorts them, and makes an object.
const struct hcl2_value *members_object(struct hcl2_run *, struct members *);
void members_sort(struct hcl2_run *, struct members *);
int text_order(struct text, struct text);

// The type that all of these can become; NULL: there is none.
const struct hcl2_type *type_unify(
	struct hcl2_run *, const struct hcl2_type *const *types, uint32_t count);
// Values as a list of their common type; NULL: they have none.
const struct hcl2_value *value_unified_list(
	struct hcl2_run *, const struct hcl2_value *const *items, uint32_t count);

// The shortest decimal digits that are this number and no other: "0.3", "1e400" where wanted.
struct text number_text(struct hcl2_run *, mpfr_srcptr);
struct text number_text_general(
	struct hcl2_run *, mpfr_srcptr); // with an exponent where it is large or small

// A text that grows.
struct writer {
	struct hcl2_run *run;
	char *data;
	uint32_t size, room;
	bool overflow; // it would be longer than a string may be
};
void write_text(struct writer *, struct text);
void write_string(struct writer *, const char *);
void write_char(struct writer *, char);
struct text writer_text(struct writer *);

// Characters as readers see them.
uint32_t grapheme_bytes(struct text rest); // of the first one
uint32_t grapheme_count(struct text);
