// Nodes of the tree, while the grammar recognizes them. A mistake is noted and fails the feed; what is built then is
// not used.
#pragma once
#include "tools/hcl2/feed.h"

struct labels {
	struct hcl2_label *rows;
	uint32_t count, room;
};

struct names {
	struct text key, value;
};

union meaning {
	struct text text;
	struct hcl2_node *node;
	struct hcl2_body *body;
	struct hcl2_attribute *attribute;
	struct hcl2_block *block;
	struct labels labels;
	struct names names;
};

// Bodies.
struct hcl2_body *build_body(struct feed *, struct place);
struct hcl2_body *build_attribute(struct feed *, struct hcl2_body *, struct hcl2_attribute *);
// No attribute may be there twice.
struct hcl2_body *build_finish_body(struct feed *, struct hcl2_body *);
struct hcl2_body *build_block(struct feed *, struct hcl2_body *, struct hcl2_block *);
struct hcl2_attribute *build_argument(struct feed *, struct text name, struct place name_at,
	struct place at, const struct hcl2_node *);
struct hcl2_block *build_new_block(
	struct feed *, struct text type, struct place type_at, struct labels, struct hcl2_body *);
void build_block_places(struct hcl2_block *, struct place labels, struct place brace);
struct labels build_label(struct feed *, struct labels, struct text, struct place);
struct text build_joined(struct feed *, struct text, struct text);

// Expressions.
struct hcl2_node *build_empty(struct feed *, enum node_kind);
struct hcl2_node *build_add(struct feed *, struct hcl2_node *to, struct hcl2_node *);
struct hcl2_node *build_add_all(struct feed *, struct hcl2_node *to, struct hcl2_node *from);
struct hcl2_node *build_conditional(
	struct feed *, struct hcl2_node *condition, struct hcl2_node *yes, struct hcl2_node *no);
struct hcl2_node *build_binary(
	struct feed *, int operation, struct hcl2_node *, struct hcl2_node *);
struct hcl2_node *build_unary(struct feed *, int operation, struct place, struct hcl2_node *);
struct hcl2_node *build_parentheses(struct feed *, struct hcl2_node *, struct place);
struct hcl2_node *build_number(struct feed *, struct place);
struct hcl2_node *build_name(struct feed *, struct text, struct place);
struct hcl2_node *build_call(struct feed *, struct text name, struct place name_at,
	struct place open, struct hcl2_node *arguments, struct place close);
struct hcl2_node *build_spread(struct feed *, struct hcl2_node *arguments);
struct hcl2_node *build_tuple(
	struct feed *, struct hcl2_node *, struct place open, struct place close);
struct hcl2_node *build_object(struct feed *, struct hcl2_node *, struct place);
struct hcl2_node *build_member(struct feed *, struct hcl2_node *key, struct hcl2_node *value);
struct hcl2_node *build_for_clause(struct feed *, struct names, struct hcl2_node *collection,
	struct hcl2_node *result, struct hcl2_node *condition);
struct hcl2_node *build_for_result(
	struct feed *, struct hcl2_node *key, struct hcl2_node *value, const struct place *group);
struct hcl2_node *build_for(
	struct feed *, struct hcl2_node *, bool object, struct place open, struct place close);

// Steps into values.
struct hcl2_node *build_name_step(
	struct feed *, struct hcl2_node *, struct text, struct place dot, struct place name);
struct hcl2_node *build_number_step(
	struct feed *, struct hcl2_node *, struct place dot, struct place number);
struct hcl2_node *build_splat(
	struct feed *, struct hcl2_node *, bool attributes, struct place open, struct place close);
struct hcl2_node *build_index(struct feed *, struct hcl2_node *, struct hcl2_node *key,
	struct place open, struct place close);

// Templates.
struct hcl2_node *build_parts(struct feed *, struct place);
struct hcl2_node *build_template(struct feed *, struct hcl2_node *parts, struct place);
struct hcl2_node *build_text(struct feed *, struct text, struct place);
struct hcl2_node *build_interpolation(
	struct feed *, struct hcl2_node *, struct place open, struct place close);
struct hcl2_node *build_if(struct feed *, struct place, struct hcl2_node *condition,
	struct hcl2_node *yes, struct hcl2_node *no);
struct hcl2_node *build_template_for(struct feed *, struct place, struct names,
	struct hcl2_node *collection, struct hcl2_node *body);

// For those who build: a node of a place, and an operand of it.
struct hcl2_node *node_new(struct feed *, enum node_kind, struct place);
void node_add(struct feed *, struct hcl2_node *, const struct hcl2_node *inside);
struct place node_place(const struct hcl2_node *);
void node_start_is(struct hcl2_node *, struct place);
