// Values of a template while it is rendered. They are views into one arena, which ends with the rendering.
#pragma once
#include "state/base/arena/arena.h"
#include "state/base/text.h"
#include <jansson.h>
#include <stdint.h>

// Of lists and maps within each other; jansson reads no deeper than 2,048.
#define VALUE_DEPTH_MAX 200u

enum value_kind {
	VALUE_NIL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_TEXT,
	VALUE_LIST,
	VALUE_MAP,    // in the order of its keys
	VALUE_RECORD, // a plain value with fields of its own: a variable, one of its items
};

struct member;
struct record;

struct value {
	enum value_kind kind;
	uint32_t count; // of items or members
	union {
		bool truth;
		int64_t integer;
		double real;
		struct text text;
		const struct value *items;
		const struct member *members;
		const struct record *record;
	};
};

struct member {
	struct text name;
	struct value value;
};

struct record {
	struct value plain; // what it is everywhere but as the owner of fields
	uint32_t count;
	const struct member *fields; // in order, too
	bool has_texts;              // a map whose missing keys are ""
};

static inline struct value value_bool(bool truth)
{
	return (struct value){.kind = VALUE_BOOL, .truth = truth};
}
static inline struct value value_int(int64_t integer)
{
	return (struct value){.kind = VALUE_INT, .integer = integer};
}
static inline struct value value_float(double real)
{
	return (struct value){.kind = VALUE_FLOAT, .real = real};
}
static inline struct value value_text(struct text text) // a view
{
	return (struct value){.kind = VALUE_TEXT, .text = text};
}
static inline struct value value_plain(struct value v)
{
	return v.kind == VALUE_RECORD ? v.record->plain : v;
}

const char *value_kind_name(enum value_kind);
bool value_is_true(struct value);
// The member of that name; NULL: there is none.
const struct value *value_member(const struct member *, uint32_t count, struct text name);
// Sorts members by name.
void value_sort_members(struct member *, uint32_t count);

// The caller owns it; NULL: it is nested too deep.
json_t *value_to_json(struct value, uint32_t depth);

struct bytes_writer;
// As Go prints it: texts as they are, lists as [a b], maps as map[k:v].
void value_print(struct bytes_writer *, struct value, uint32_t depth);
// Go's formats. False: the format is wrong, or the result too long.
bool value_format(struct bytes_writer *, struct text format, const struct value *args,
	uint32_t count, char *message, uint32_t message_size);
