// Blocks of anything: a block within is a list of one map, each of its names another level; an object that is written
// out as the value of a name is a list of one map too.
#include "tools/jobfile/decode.h"
#include <math.h>

// About what a value takes as JSON.
#define VALUE_BYTES 128u

static json_t *number_json(struct decoder *d, const struct hcl2_value *value)
{
	int64_t whole;
	if (hcl2_number_is_int(value, INT64_MIN, INT64_MAX, &whole))
		return json_integer(whole);
	double number = hcl2_number_double(value);
	return isfinite(number) ? json_real(number) : NULL;
}

static json_t *value_json(struct decoder *, const struct hcl2_value *);

static json_t *items_json(struct decoder *d, const struct hcl2_value *value)
{
	json_t *result = value->type->kind == HCL2_MAP || value->type->kind == HCL2_OBJECT
				 ? json_object()
				 : json_array();
	for (uint32_t i = 0; i < value->count; i++) {
		json_t *item = value_json(d, value->items[i]);
		if (!item) {
			json_decref(result);
			return NULL;
		}
		if (json_is_array(result))
			json_array_append_new(result, item);
		else
			json_object_setn_new(
				result, value->keys[i].data, value->keys[i].size, item);
	}
	return result;
}

static json_t *value_json(struct decoder *d, const struct hcl2_value *value)
{
	d->run->memory_used += VALUE_BYTES;
	if (!hcl2_step(d->run, (struct hcl2_range){0}))
		return NULL;
	if (value->is_null)
		return json_null();
	switch (value->type->kind) {
	case HCL2_BOOL: return json_boolean(value->boolean);
	case HCL2_NUMBER: return number_json(d, value);
	case HCL2_STRING: return text_json(value->string);
	default: return items_json(d, value);
	}
}

static json_t *attribute_json(
	struct decoder *d, const struct job_body *body, const struct hcl2_attribute *attribute)
{
	const struct hcl2_value *value = hcl2_evaluate(d->run, body->scope, attribute->expression);
	json_t *json = value ? value_json(d, value) : NULL;
	if (value && !json)
		hcl2_mistake(d->run, hcl2_start_range(attribute->expression),
			"The value cannot be written as JSON.");
	if (json && hcl2_is_object_literal(attribute->expression))
		return json_pack("[o]", json);
	return json;
}

static json_t *free_body(struct decoder *d, const struct job_body *body, bool keeps_null);

static json_t *free_block(
	struct decoder *d, const struct job_body *around, const struct hcl2_block *block)
{
	struct job_body inner = {block->body, around->scope};
	json_t *json = free_body(d, &inner, true);
	for (uint32_t i = block->label_count; i > 0; i--) {
		json_t *outer = json_object();
		json_object_setn_new(outer, block->labels[i - 1].text.data,
			block->labels[i - 1].text.size, json_pack("[o]", json));
		json = outer;
	}
	return json;
}

static json_t *free_body(struct decoder *d, const struct job_body *body, bool keeps_null)
{
	json_t *object = json_object(), *lists = json_object();
	for (const struct hcl2_attribute *a = body->body->attributes; a; a = a->next) {
		json_t *value = attribute_json(d, body, a);
		if (value && (keeps_null || !json_is_null(value)))
			json_object_setn_new(object, a->name.data, a->name.size, value);
		else
			json_decref(value);
	}
	for (const struct hcl2_block *b = body->body->blocks; b; b = b->next) {
		json_t *list = json_object_getn(lists, b->type.data, b->type.size);
		if (!list) {
			list = json_array();
			json_object_setn_new(lists, b->type.data, b->type.size, list);
		}
		json_array_append_new(list, free_block(d, body, b));
	}
	json_object_update(object, lists);
	json_decref(lists);
	return object;
}

json_t *decode_free(struct decoder *d, const struct job_body *body)
{
	return free_body(d, body, false);
}
