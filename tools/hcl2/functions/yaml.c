// Values as YAML, and YAML as values.
#include "tools/hcl2/functions/functions.h"
#include <stdlib.h>
#include <yaml.h>

struct yaml_text {
	struct call *call;
	yaml_document_t document;
};

static bool is_one_of(struct text text, const char *const *words)
{
	for (; *words; words++)
		if (text_equal(text, text_of(*words)))
			return true;
	return false;
}

// Digits with underscores in between, as octal or hexadecimal numbers may be written too.
static const struct hcl2_value *plain_number(struct hcl2_run *run, struct text text)
{
	struct writer w = {.run = run};
	char *end;
	for (uint32_t i = 0; i < text.size; i++)
		if (text.data[i] != '_')
			write_char(&w, text.data[i]);
	text = writer_text(&w);
	const struct hcl2_value *number = value_parse_number(run, text);
	if (number || text.size < 3 || text.data[0] != '0' || !strchr("xo", text.data[1]))
		return number;
	uint64_t whole = strtoull(text.data + 2, &end, text.data[1] == 'x' ? 16 : 8);
	return *end || whole > INT64_MAX ? NULL : value_int(run, (int64_t)whole);
}

static const struct hcl2_value *plain_scalar(struct hcl2_run *run, struct text text)
{
	static const char *const yes[] = {
		"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", NULL};
	static const char *const no[] = {
		"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", NULL};
	static const char *const none[] = {"", "~", "null", "Null", "NULL", NULL};
	if (is_one_of(text, yes) || is_one_of(text, no))
		return value_bool(run, is_one_of(text, yes));
	if (is_one_of(text, none))
		return &hcl2_null;
	bool number_begins = strchr("+-.0123456789", *text.data) != NULL;
	const struct hcl2_value *number = number_begins ? plain_number(run, text) : NULL;
	return number ? number : value_string(run, text);
}

static const struct hcl2_value *yaml_scalar(struct yaml_text *yaml, const yaml_node_t *node)
{
	struct hcl2_run *run = yaml->call->run;
	struct text text = hcl2_copy(run, (struct text){(const char *)node->data.scalar.value,
						  (uint32_t)node->data.scalar.length});
	const char *tag = (const char *)node->tag;
	bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (!plain || strcmp(tag, YAML_STR_TAG) != 0)
		return value_string(run, text);
	return plain_scalar(run, text);
}

static const struct hcl2_value *yaml_value(struct yaml_text *yaml, int number, uint32_t depth);

static const struct hcl2_value *yaml_sequence(
	struct yaml_text *yaml, const yaml_node_t *node, uint32_t depth)
{
	struct members list = {0};
	const yaml_node_item_t *item = node->data.sequence.items.start;
	for (; item < node->data.sequence.items.top; item++) {
		const struct hcl2_value *value = yaml_value(yaml, *item, depth);
		if (!value)
			return NULL;
		members_put(yaml->call->run, &list, (struct text){0}, value);
	}
	return value_tuple(yaml->call->run, list.items, list.count);
}

static const struct hcl2_value *yaml_mapping(
	struct yaml_text *yaml, const yaml_node_t *node, uint32_t depth)
{
	struct members members = {0};
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	for (; pair < node->data.mapping.pairs.top; pair++) {
		const struct hcl2_value *key = yaml_value(yaml, pair->key, depth);
		const struct hcl2_value *item = key ? yaml_value(yaml, pair->value, depth) : NULL;
		if (item)
			key = hcl2_convert(
				yaml->call->run, key, &hcl2_text_type, &yaml->call->problem);
		if (!item || !key)
			return NULL;
		if (key->is_null)
			return call_failed(yaml->call, "a key is null");
		members_put(yaml->call->run, &members, key->string, item);
	}
	return members_object(yaml->call->run, &members);
}

static const struct hcl2_value *yaml_value(struct yaml_text *yaml, int number, uint32_t depth)
{
	const yaml_node_t *node = yaml_document_get_node(&yaml->document, number);
	if (!hcl2_step(yaml->call->run, hcl2_range(yaml->call->node)) || depth > HCL2_DEPTH_MAX)
		return call_failed(yaml->call, "there is too much of it");
	switch (node->type) {
	case YAML_SCALAR_NODE: return yaml_scalar(yaml, node);
	case YAML_SEQUENCE_NODE: return yaml_sequence(yaml, node, depth + 1);
	case YAML_MAPPING_NODE: return yaml_mapping(yaml, node, depth + 1);
	default: return &hcl2_null;
	}
}

static const struct hcl2_value *fn_yamldecode(struct call *call)
{
	struct yaml_text yaml = {.call = call};
	struct text text = call_text(call, 0);
	yaml_parser_t parser;
	const struct hcl2_value *value = NULL;
	if (!yaml_parser_initialize(&parser))
		return call_failed(call, "memory is exhausted");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.size);
	if (!yaml_parser_load(&parser, &yaml.document)) {
		call_failed(call, "on line %u: %s", (unsigned)parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "this is not YAML");
	} else {
		if (yaml_document_get_root_node(&yaml.document))
			value = yaml_value(&yaml, 1, 0);
		else
			value = &hcl2_null;
		yaml_document_delete(&yaml.document);
	}
	yaml_parser_delete(&parser);
	return value;
}

struct yaml_out {
	yaml_emitter_t emitter;
	struct hcl2_run *run;
	bool failed;
};

static void emit_event(struct yaml_out *out, yaml_event_t *event, int made)
{
	if (!made || out->failed || !yaml_emitter_emit(&out->emitter, event))
		out->failed = true;
}

static void emit_scalar(struct yaml_out *out, struct text text, bool quoted)
{
	yaml_event_t event;
	yaml_scalar_style_t style =
		quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
	if (quoted && memchr(text.data, '\n', text.size))
		style = YAML_LITERAL_SCALAR_STYLE;
	emit_event(out, &event,
		yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text.data,
			(int)text.size, !quoted, quoted, style));
}

static void emit_value(struct yaml_out *out, const struct hcl2_value *value)
{
	yaml_event_t event;
	if (!hcl2_step(out->run, (struct hcl2_range){0}))
		out->failed = true;
	if (out->failed)
		return;
	if (value->is_null) {
		emit_scalar(out, TEXT("null"), false);
	} else if (value->type->kind == HCL2_STRING) {
		emit_scalar(out, value->string, true);
	} else if (value->type->kind == HCL2_NUMBER) {
		emit_scalar(out, number_text(out->run, value->number), false);
	} else if (value->type->kind == HCL2_BOOL) {
		emit_scalar(out, value->boolean ? TEXT("true") : TEXT("false"), false);
	} else if (value->keys || kind_is_mapping(value->type->kind)) {
		emit_event(out, &event,
			yaml_mapping_start_event_initialize(
				&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
		for (uint32_t i = 0; i < value->count; i++) {
			emit_scalar(out, value->keys[i], true);
			emit_value(out, value->items[i]);
		}
		emit_event(out, &event, yaml_mapping_end_event_initialize(&event));
	} else {
		emit_event(out, &event,
			yaml_sequence_start_event_initialize(
				&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
		for (uint32_t i = 0; i < value->count; i++)
			emit_value(out, value->items[i]);
		emit_event(out, &event, yaml_sequence_end_event_initialize(&event));
	}
}

static int write_bytes(void *to, unsigned char *data, size_t size)
{
	struct writer *w = to;
	write_text(w, (struct text){(const char *)data, (uint32_t)size});
	return !w->overflow;
}

static const struct hcl2_value *fn_yamlencode(struct call *call)
{
	struct writer w = {.run = call->run};
	struct yaml_out out = {.run = call->run};
	yaml_event_t event;
	if (!yaml_emitter_initialize(&out.emitter))
		return call_failed(call, "memory is exhausted");
	yaml_emitter_set_output(&out.emitter, write_bytes, &w);
	yaml_emitter_set_unicode(&out.emitter, 1);
	yaml_emitter_set_width(&out.emitter, -1);
	emit_event(&out, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit_event(&out, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	emit_value(&out, call->arguments[0]);
	emit_event(&out, &event, yaml_document_end_event_initialize(&event, 1));
	emit_event(&out, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&out.emitter);
	if (out.failed && !w.overflow)
		return call_failed(call, "the value cannot be written as YAML");
	return call_written(call, &w);
}

const struct function yaml_functions[] = {
	{"yamldecode", "s", fn_yamldecode},
	{"yamlencode", "?a", fn_yamlencode},
	{0},
};
