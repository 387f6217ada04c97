// Bodies by their tables.
#include "tools/jobfile/decode.h"
#include "tools/json/duration.h"
#include <string.h>

// About what a block takes as JSON.
#define BLOCK_BYTES 4096u

json_t *text_json(struct text text)
{
	return json_stringn(text.data, text.size);
}

static json_t *unsuitable(struct decoder *d, const struct hcl2_node *node, const char *problem)
{
	hcl2_mistake(d->run, hcl2_start_range(node), "Unsuitable value: %s.", problem);
	return NULL;
}

// The value of an expression as one of a type. NULL after a mistake.
static const struct hcl2_value *typed_value(struct decoder *d, const struct job_body *body,
	const struct hcl2_node *node, const struct hcl2_type *type)
{
	const char *problem;
	const struct hcl2_value *value = hcl2_evaluate(d->run, body->scope, node);
	if (!value)
		return NULL;
	const struct hcl2_value *typed = hcl2_convert(d->run, value, type, &problem);
	if (!typed)
		unsuitable(d, node, problem);
	return typed;
}

static json_t *null_json(struct decoder *d, const struct hcl2_node *node, bool nullable)
{
	return nullable ? json_null() : unsuitable(d, node, "null is not allowed");
}

json_t *decode_text(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node, bool nullable)
{
	const struct hcl2_value *value = typed_value(d, body, node, &hcl2_text_type);
	if (!value)
		return NULL;
	return value->is_null ? null_json(d, node, nullable) : text_json(value->string);
}

static json_t *decode_bool(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node, bool nullable)
{
	const struct hcl2_value *value = typed_value(d, body, node, &hcl2_bool_type);
	if (!value)
		return NULL;
	return value->is_null ? null_json(d, node, nullable) : json_boolean(value->boolean);
}

static json_t *decode_int(struct decoder *d, const struct job_body *body,
	const struct hcl2_node *node, const struct member_rule *field)
{
	const struct hcl2_value *value = typed_value(d, body, node, &hcl2_number_type);
	bool bounded = field->least || field->most;
	int64_t least = bounded ? field->least : INT64_MIN, number;
	int64_t most = bounded ? field->most : INT64_MAX;
	if (!value)
		return NULL;
	if (value->is_null)
		return null_json(d, node, field->flags & MEMBER_NULL);
	if (hcl2_number_is_int(value, least, most, &number))
		return json_integer(number);
	return unsuitable(d, node,
		hcl2_print(d->run, "a whole number from %lld to %lld is required", (long long)least,
			(long long)most));
}

// A text with units, or a number of nanoseconds.
static json_t *decode_duration(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node, bool nullable)
{
	const struct hcl2_value *value = hcl2_evaluate(d->run, body->scope, node);
	int64_t ns;
	if (!value)
		return NULL;
	if (value->type->kind == HCL2_NUMBER && value->is_null)
		return null_json(d, node, nullable);
	if (value->is_null || value->type->kind == HCL2_BOOL || value->type->kind > HCL2_STRING)
		return unsuitable(d, node, "a duration like \"30s\" is required");
	if (value->type->kind == HCL2_STRING &&
		!duration_parse(hcl2_copy(d->run, value->string).data, &ns))
		return unsuitable(d, node,
			"this is no duration; it is a number with a unit: ns, us, ms, s, m or h");
	if (value->type->kind == HCL2_NUMBER &&
		!hcl2_number_is_int(value, INT64_MIN, INT64_MAX, &ns))
		return unsuitable(d, node, "a whole number of nanoseconds is required");
	return json_integer(ns);
}

static json_t *texts_json(
	struct decoder *d, const struct hcl2_value *list, const struct hcl2_node *node)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->items[i]->is_null) {
			json_decref(array);
			return unsuitable(d, node, "null is not allowed");
		}
		json_array_append_new(array, text_json(list->items[i]->string));
	}
	return array;
}

static json_t *decode_texts(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node)
{
	const struct hcl2_value *value = typed_value(d, body, node, &hcl2_text_list_type);
	if (!value)
		return NULL;
	return value->is_null ? json_null() : texts_json(d, value, node);
}

// A map that an expression makes.
static json_t *decode_text_map(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node)
{
	const struct hcl2_value *value = typed_value(d, body, node, &hcl2_text_map_type);
	if (!value || value->is_null)
		return value ? json_null() : NULL;
	json_t *object = json_object();
	for (uint32_t i = 0; i < value->count; i++) {
		if (value->items[i]->is_null) {
			json_decref(object);
			return unsuitable(d, node, "null is not allowed");
		}
		json_object_setn_new(object, value->keys[i].data, value->keys[i].size,
			text_json(value->items[i]->string));
	}
	return object;
}

// Attributes of a block of any names, each as `decode` says. Blocks have no place among them.
static json_t *decode_members(struct decoder *d, const struct job_body *body,
	json_t *decode(struct decoder *, const struct job_body *, const struct hcl2_node *))
{
	json_t *object = json_object();
	for (const struct hcl2_attribute *a = body->body->attributes; a; a = a->next) {
		json_t *value = decode(d, body, a->expression);
		if (value)
			json_object_setn_new(object, a->name.data, a->name.size, value);
	}
	for (const struct hcl2_block *b = body->body->blocks; b; b = b->next)
		hcl2_mistake(d->run, b->open, "There are no blocks here, only names and values.");
	return object;
}

static json_t *decode_plain_text(
	struct decoder *d, const struct job_body *body, const struct hcl2_node *node)
{
	return decode_text(d, body, node, false);
}

static json_t *decode_attribute(struct decoder *d, const struct member_rule *field,
	const struct job_body *body, const struct hcl2_node *node)
{
	bool nullable = field->flags & MEMBER_NULL;
	switch (field->kind) {
	case MEMBER_TEXT: return decode_text(d, body, node, nullable);
	case MEMBER_BOOL: return decode_bool(d, body, node, nullable);
	case MEMBER_INT: return decode_int(d, body, node, field);
	case MEMBER_DURATION: return decode_duration(d, body, node, nullable);
	case MEMBER_META: return decode_text_map(d, body, node);
	default: return decode_texts(d, body, node);
	}
}

static json_t *decode_inside(
	struct decoder *d, const struct member_rule *field, struct job_block *block)
{
	switch (field->kind) {
	case MEMBER_MAP:
	case MEMBER_META: return decode_members(d, &block->body, decode_plain_text);
	case MEMBER_HEADERS: return decode_members(d, &block->body, decode_texts);
	case MEMBER_FREE: return decode_free(d, &block->body);
	default: break;
	}
	json_t *object = decode_body(d, field->inside, &block->body);
	if (field->inside->label && *field->inside->label && block->label_count)
		json_object_set_new(object, field->inside->label, text_json(block->labels[0]));
	return object;
}

static void put_block(struct decoder *d, const struct member_rule *field, struct job_block *block,
	json_t *object, bool *is_first)
{
	json_t *held = json_object_get(object, field->member);
	bool several = field->kind == MEMBER_BLOCKS || field->kind == MEMBER_NAMED;
	if (!*is_first && !several) {
		hcl2_mistake(d->run, block->header, "There may be only one block \"%.*s\".",
			(int)block->type.size, block->type.data);
		return;
	}
	if (field->kind == MEMBER_NAMED && !block->label_count) {
		hcl2_mistake(d->run, block->header, "A block \"%.*s\" has a name.",
			(int)block->type.size, block->type.data);
		return;
	}
	*is_first = false;
	json_t *value = decode_inside(d, field, block);
	if (!several) {
		json_object_set_new(object, field->member, value);
		return;
	}
	if (json_is_absent(held)) {
		held = field->kind == MEMBER_BLOCKS ? json_array() : json_object();
		json_object_set_new(object, field->member, held);
	}
	if (field->inside->label_says)
		field->inside->label_says(d, block, value, held);
	if (field->kind == MEMBER_BLOCKS)
		json_array_append_new(held, value);
	else
		json_object_setn_new(held, block->labels[0].data, block->labels[0].size, value);
}

static void decode_blocks(struct decoder *d, const struct member_rule *field,
	struct job_block *blocks, json_t *object)
{
	bool is_first = json_is_absent(json_object_get(object, field->member));
	for (struct job_block *b = blocks; b; b = b->next)
		if (text_equal(b->type, text_of(field->name)))
			put_block(d, field, b, object, &is_first);
}

json_t *decode_body(
	struct decoder *d, const struct block_schema *schema, const struct job_body *body)
{
	d->run->memory_used += BLOCK_BYTES;
	if (schema->read)
		return schema->read(d, body);
	json_t *object = schema_empty(schema);
	struct body_rules rules = {.schema = schema};
	struct job_block *blocks = body_blocks(d, &rules, body);
	for (const struct hcl2_attribute *a = body->body->attributes; a; a = a->next) {
		const struct member_rule *field = schema_member(schema, a->name.data, a->name.size);
		if (!field || (field->kind > MEMBER_TEXTS && field->kind != MEMBER_META))
			continue;
		json_t *value = decode_attribute(d, field, body, a->expression);
		if (value)
			json_object_set_new(object, field->member, value);
	}
	for (const struct member_rule *f = schema->fields; f->member; f++)
		if (f->name && f->kind > MEMBER_TEXTS)
			decode_blocks(d, f, blocks, object);
	if (schema->finish)
		schema->finish(d, body, object);
	return object;
}
