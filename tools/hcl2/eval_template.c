// Templates: their parts as one text.
#include "tools/hcl2/eval.h"

static bool write_value(struct writer *w, const struct hcl2_value *value, struct hcl2_range at)
{
	if (value->is_null)
		return hcl2_mistake(w->run, at, "The value is null, and cannot be part of a text.");
	value = value_as(w->run, value, &hcl2_text_type, at, "This cannot be part of a text");
	if (value)
		write_text(w, value->string);
	return value != NULL;
}

static const struct hcl2_value *written(struct writer *w, const struct hcl2_node *node)
{
	if (w->overflow)
		return no_value(w->run, hcl2_range(node), "The text becomes longer than %u bytes.",
			HCL2_STRING_BYTES_MAX);
	return value_string(w->run, writer_text(w));
}

const struct hcl2_value *evaluate_template(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	struct writer w = {.run = run};
	bool fine = true;
	if (node->count == 1 && node->inside[0]->kind == NODE_LITERAL &&
		node->inside[0]->literal->type->kind == HCL2_STRING)
		return node->inside[0]->literal;
	for (uint32_t i = 0; i < node->count; i++) {
		const struct hcl2_node *part = node->inside[i];
		const struct hcl2_value *value = hcl2_evaluate(run, scope, part);
		fine = value && write_value(&w, value, hcl2_range(part)) && fine;
	}
	return fine ? written(&w, node) : NULL;
}

const struct hcl2_value *evaluate_template_if(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	return evaluate_conditional(run, scope, node);
}

const struct hcl2_value *evaluate_template_for(
	struct hcl2_run *run, const struct hcl2_scope *scope, const struct hcl2_node *node)
{
	const struct hcl2_node *from = node->inside[FOR_COLLECTION];
	const struct hcl2_value *collection = hcl2_evaluate(run, scope, from);
	struct writer w = {.run = run};
	if (!collection || !iterate_begin(run, collection, hcl2_range(from)))
		return NULL;
	for (uint32_t i = 0; i < collection->count; i++) {
		struct hcl2_scope inner = iterate_scope(run, scope, node, collection, i);
		const struct hcl2_value *value =
			hcl2_evaluate(run, &inner, node->inside[FOR_VALUE]);
		if (!value || !write_value(&w, value, hcl2_range(node)))
			return NULL;
	}
	return written(&w, node);
}
