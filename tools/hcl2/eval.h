// Evaluation of one kind of expression after the other. Each returns NULL after a mistake.
#pragma once
#include "tools/hcl2/syntax.h"
#include "tools/hcl2/values.h"

typedef const struct hcl2_value *evaluate_fn(
	struct hcl2_run *, const struct hcl2_scope *, const struct hcl2_node *);

evaluate_fn evaluate_template, evaluate_template_if, evaluate_template_for;
evaluate_fn evaluate_variable, evaluate_steps, evaluate_index, evaluate_splat, evaluate_item;
evaluate_fn evaluate_for, evaluate_call, evaluate_conditional, evaluate_unary, evaluate_binary;

// Notes a mistake; NULL.
const struct hcl2_value *no_value(struct hcl2_run *, struct hcl2_range, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Converts; a mistake at that place says what is wrong.
const struct hcl2_value *value_as(struct hcl2_run *, const struct hcl2_value *,
	const struct hcl2_type *, struct hcl2_range, const char *what);
// The expression as a boolean that is not null.
const struct hcl2_value *evaluate_condition(
	struct hcl2_run *, const struct hcl2_scope *, const struct hcl2_node *);
// Collections as iterations see them. False after a mistake.
bool iterate_begin(struct hcl2_run *, const struct hcl2_value *, struct hcl2_range);
// The scope of one round.
struct hcl2_scope iterate_scope(struct hcl2_run *, const struct hcl2_scope *outer,
	const struct hcl2_node *names, const struct hcl2_value *collection, uint32_t i);
// Evaluates without noting mistakes; what the first would be.
const struct hcl2_value *evaluate_quietly(struct hcl2_run *, const struct hcl2_scope *,
	const struct hcl2_node *, struct hcl2_mistake *);
