// What a parsed template is: a tree in an arena.
#pragma once
#include "state/base/arena/arena.h"
#include "tools/template/template.h"
#include "tools/template/values.h"

struct function;

// A value with the fields that are looked up in it, one after the other.
enum operand_kind {
	OPERAND_CONSTANT,
	OPERAND_DOT,
	OPERAND_VARIABLE, // $name
	OPERAND_PIPE,     // in parentheses
	OPERAND_FUNCTION,
};
struct operand {
	enum operand_kind kind;
	uint32_t at; // byte of the template
	uint32_t slot;
	uint32_t field_count;
	struct value constant;
	const struct function *function;
	const struct pipe *pipe;
	const struct text *fields;
	struct operand *next;
};

// A function with its arguments, or one operand alone.
struct command {
	struct operand *operands;
	uint32_t count;
	struct command *next;
};

struct pipe {
	uint32_t at;
	uint32_t name_count; // variables that it sets: 1, or 2 of a range
	uint32_t slots[2];
	bool declares; // := and not =
	struct command *commands;
};

enum node_kind {
	NODE_TEXT,
	NODE_PRINT,
	NODE_SET, // a pipe that only sets a variable
	NODE_IF,
	NODE_WITH,
	NODE_RANGE,
	NODE_BREAK,
	NODE_CONTINUE,
};
struct node {
	enum node_kind kind;
	uint32_t at;
	struct text text;
	struct pipe *pipe;
	struct node *body, *otherwise;
	struct node *next;
};

struct template
{
	struct arena memory;
	struct text text;
	struct node *nodes;
	uint32_t slot_count; // of variables; 0 is $
	bool reads_variables;
};

// Fills in the line and the column.
void template_place(struct text, uint32_t at, struct template_trouble *);
