// The configuration language of job files: texts are read into trees, and what stands in them is evaluated.
//
//	struct hcl2_run run;                 memory, limits and mistakes of everything that follows
//	hcl2_run_begin(&run);
//	file = hcl2_parse(&run, name, text)  a tree of blocks and attributes; NULL: the mistakes say why
//	value = hcl2_evaluate(&run, scope, attribute->expression)
//	hcl2_run_end(&run);                  frees all of it
//
// Values are never changed once they are made, so that one may be part of many.
#pragma once
#include "state/base/arena/arena.h"
#include "state/base/text.h"
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

// What one text may cost. An author's mistake or malice ends with a sentence within a second or so.
#define HCL2_TEXT_BYTES_MAX (1024u * 1024)
#define HCL2_DEPTH_MAX 400u     // expressions, blocks and values within each other
#define HCL2_STEPS_MAX 3000000u // expressions evaluated, values compared, converted or printed
#define HCL2_MEMORY_MAX (192u * 1024 * 1024)
#define HCL2_STRING_BYTES_MAX (4u * 1024 * 1024) // of a string that is made
#define HCL2_ELEMENTS_MAX (256u * 1024)          // of a collection that is made
#define HCL2_MISTAKES_MAX 16u

// A text with its name for messages.
struct hcl2_source {
	const char *name;
	struct text text;
};

// Bytes of a source, from `from` up to `to`.
struct hcl2_range {
	const struct hcl2_source *source; // NULL: nowhere
	uint32_t from, to;
};

struct hcl2_mistake {
	struct hcl2_range at;
	const char *text; // a sentence
};

struct hcl2_run {
	struct arena memory;
	size_t memory_used;
	uint32_t steps;
	struct hcl2_mistake mistakes[HCL2_MISTAKES_MAX]; // in the order in which they were found
	uint32_t mistake_count;
	const char *files_from; // the folder of files that functions read; NULL: they read none
};

void hcl2_run_begin(struct hcl2_run *);
void hcl2_run_end(struct hcl2_run *);
// Zeroed memory of the run; its amount counts.
void *hcl2_take(struct hcl2_run *, size_t bytes);
char *hcl2_print(struct hcl2_run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct text hcl2_copy(struct hcl2_run *, struct text); // NUL-terminated behind its end
// Adds a mistake; those beyond the limit are forgotten. Returns false.
bool hcl2_mistake(struct hcl2_run *, struct hcl2_range at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Counts one step. False, and one mistake, when the run costs too much.
bool hcl2_step(struct hcl2_run *, struct hcl2_range at);
bool hcl2_exhausted(const struct hcl2_run *);
// All mistakes as people read them: place, sentence, and the line with a mark below. The run's memory.
const char *hcl2_mistakes_text(struct hcl2_run *);
// Line and column of a byte, both from 1. Columns count what a reader sees as one character.
void hcl2_place(const struct hcl2_source *, uint32_t byte, uint32_t *line, uint32_t *column);

// Types and values.

enum hcl2_kind {
	HCL2_ANY, // of null alone, and of types that take every value
	HCL2_BOOL,
	HCL2_NUMBER,
	HCL2_STRING,
	HCL2_LIST,
	HCL2_SET,
	HCL2_MAP,
	HCL2_TUPLE,
	HCL2_OBJECT,
};

struct hcl2_type {
	enum hcl2_kind kind;
	const struct hcl2_type *element;        // of lists, sets and maps
	uint32_t count;                         // of tuples and objects
	const struct hcl2_type *const *members; // of tuples and objects
	const struct text *names;               // of objects, in order of their bytes
};

struct hcl2_value {
	const struct hcl2_type *type;
	bool is_null;
	bool boolean;
	mpfr_srcptr number;
	struct text string; // UTF-8 in composed form
	uint32_t count;     // of all collections
	const struct hcl2_value *const
		*items;          // of sets in order, of maps and objects by their keys
	const struct text *keys; // of maps and objects, in order of their bytes
};

// Trees.

struct hcl2_node;

struct hcl2_attribute {
	struct text name;
	struct hcl2_range name_at, at; // at: all of it
	const struct hcl2_node *expression;
	struct hcl2_attribute *next;
};

struct hcl2_label {
	struct text text;
	struct hcl2_range at;
};

struct hcl2_body {
	struct hcl2_attribute *attributes; // in their order
	struct hcl2_block *blocks;
	struct hcl2_range end; // where a missing one would be said
	uint32_t attribute_count;
	struct hcl2_attribute **last_attribute;
	struct hcl2_block **last_block;
};

struct hcl2_block {
	struct text type;
	struct hcl2_range type_at, header; // header: its type and labels
	const struct hcl2_label *labels;
	uint32_t label_count;
	struct hcl2_range open; // its brace
	struct hcl2_body *body;
	struct hcl2_block *next;
};

// The text is copied. NULL after a mistake.
struct hcl2_body *hcl2_parse(struct hcl2_run *, const char *name, struct text text);
// One expression and nothing else.
const struct hcl2_node *hcl2_parse_expression(
	struct hcl2_run *, const char *name, struct text text);

// Where names are looked up: the innermost first.
struct hcl2_scope {
	const struct hcl2_scope *outer;
	struct text names[2]; // empty: none
	const struct hcl2_value *values[2];
	const struct hcl2_node *item_of; // the splat whose item is `item`
	const struct hcl2_value *item;
	bool without_functions, without_variables; // of the outermost
	bool unknown_is_text; // of the outermost: a name that nobody knows stands for its own text
};

// NULL after a mistake.
const struct hcl2_value *hcl2_evaluate(
	struct hcl2_run *, const struct hcl2_scope *, const struct hcl2_node *);
// All of an expression, and the beginning that stands for it in mistakes about its value.
struct hcl2_range hcl2_range(const struct hcl2_node *);
struct hcl2_range hcl2_start_range(const struct hcl2_node *);
// Whether it is an object that is written out, without parentheses around.
bool hcl2_is_object_literal(const struct hcl2_node *);
// Whether it is a name and nothing else.
bool hcl2_name_of(const struct hcl2_node *, struct text *name);
// Calls for each use of a variable, with its name, and the name of the attribute that follows if there is one.
void hcl2_visit_variables(const struct hcl2_node *,
	void visit(void *context, struct hcl2_range, struct text name, struct text attribute),
	void *context);
// Elements of a list that is written out; NULL: it is none.
const struct hcl2_node *const *hcl2_list_literal(const struct hcl2_node *, uint32_t *count);
// Type constraints: string, list(number), object({…}). NULL after a mistake.
const struct hcl2_type *hcl2_type_constraint(struct hcl2_run *, const struct hcl2_node *);

// The types of members that are texts, numbers, booleans, lists and maps of texts.
extern const struct hcl2_type hcl2_text_type, hcl2_number_type, hcl2_bool_type, hcl2_text_list_type,
	hcl2_text_map_type;
// The value as one of this type. NULL, and what is wrong, which is a part of a sentence.
const struct hcl2_value *hcl2_convert(struct hcl2_run *, const struct hcl2_value *,
	const struct hcl2_type *, const char **problem);
const char *hcl2_type_name(struct hcl2_run *, const struct hcl2_type *);
// Whether the number is a whole one that fits.
bool hcl2_number_is_int(const struct hcl2_value *, int64_t least, int64_t most, int64_t *number);
double hcl2_number_double(const struct hcl2_value *);
// Element i of a collection with its key, as {key, value}.
const struct hcl2_value *hcl2_element(
	struct hcl2_run *, const struct hcl2_value *collection, uint32_t i);
// JSON text as a value; NULL, and what is wrong.
const struct hcl2_value *hcl2_parse_json(struct hcl2_run *, struct text, const char **problem);
// An object of members in any order.
const struct hcl2_value *hcl2_object(struct hcl2_run *, uint32_t count, const struct text *names,
	const struct hcl2_value *const *values);
const struct hcl2_value *hcl2_text_value(struct hcl2_run *, struct text);
const struct hcl2_value *hcl2_member(const struct hcl2_value *, struct text name); // NULL: none
bool hcl2_is_name(struct text text); // whether it may name a variable
