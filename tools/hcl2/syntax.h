// Expressions as trees.
#pragma once
#include "tools/hcl2/hcl2.h"

enum node_kind {
	NODE_LITERAL,
	NODE_TEMPLATE,    // parts, joined
	NODE_WRAP,        // "${…}" and nothing else: the value itself
	NODE_TEMPLATE_IF, // condition, template, template or none
	NODE_TEMPLATE_FOR,
	NODE_VARIABLE, // a name and steps
	NODE_STEPS,    // steps from another value
	NODE_INDEX,    // of a computed key
	NODE_SPLAT,    // each element of a value; only attributes follow an attribute splat
	NODE_ITEM,     // what a splat looks at
	NODE_CALL,
	NODE_TUPLE,
	NODE_OBJECT, // keys and values by turns
	NODE_FOR,
	NODE_CONDITIONAL,
	NODE_UNARY,
	NODE_BINARY,
	NODE_PARENTHESES,
};

// A step into a value: an attribute's name, or a key that is written out.
struct node_step {
	struct text name;
	const struct hcl2_value *key; // NULL: it is a name
	uint32_t from, to;
};

struct hcl2_node {
	enum node_kind kind;
	const struct hcl2_source *source;
	uint32_t from, to;             // all of it
	uint32_t start_from, start_to; // what stands for it
	uint32_t depth;
	uint32_t count, room;
	// Operands, parts, elements, arguments; of a for: collection, key, value, condition.
	const struct hcl2_node **inside;
	struct text name, key_name; // of a variable, a call; of a for: its value's and its key's
	const struct hcl2_value *literal;
	int operation; // the token of an operator
	bool flag; // a call that spreads its last argument, a for that groups, a splat of attributes alone
	bool makes_object;
	uint32_t close; // of a call: where its parenthesis is
	struct node_step *steps;
	uint32_t step_count, step_room;
};

// Parts of a for, which may be missing but for the collection and the value.
enum { FOR_COLLECTION, FOR_KEY, FOR_VALUE, FOR_CONDITION, FOR_PARTS };
