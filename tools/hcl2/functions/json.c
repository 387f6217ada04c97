// Values as JSON, and JSON as values.
#include "tools/hcl2/functions/functions.h"
#include <glib.h>

static void write_json_string(struct writer *w, struct text text)
{
	write_char(w, '"');
	for (uint32_t i = 0; i < text.size && !w->overflow; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (c == '"' || c == '\\') {
			write_char(w, '\\');
			write_char(w, (char)c);
		} else if (c == '\n' || c == '\r' || c == '\t') {
			write_string(w, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		} else if (c < 0x20 || c == '<' || c == '>' || c == '&') {
			write_string(w, hcl2_print(w->run, "\\u%04x", c));
		} else if (text.size - i >= 3 &&
			   (!memcmp(text.data + i, "\xe2\x80\xa8", 3) ||
				   !memcmp(text.data + i, "\xe2\x80\xa9", 3))) {
			write_string(w, text.data[i + 2] == '\xa8' ? "\\u2028" : "\\u2029");
			i += 2;
		} else {
			write_char(w, (char)c);
		}
	}
	write_char(w, '"');
}

static bool write_json_items(struct writer *w, const struct hcl2_value *value, bool *finite)
{
	write_char(w, value->keys ? '{' : '[');
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			write_char(w, ',');
		if (value->keys) {
			write_json_string(w, value->keys[i]);
			write_char(w, ':');
		}
		if (!value_write_json(w, value->items[i], finite))
			return false;
	}
	write_char(w, value->keys ? '}' : ']');
	return !w->overflow;
}

bool value_write_json(struct writer *w, const struct hcl2_value *value, bool *finite)
{
	*finite = true;
	if (!hcl2_step(w->run, (struct hcl2_range){0}))
		return false;
	if (value->is_null) {
		write_string(w, "null");
		return true;
	}
	switch (value->type->kind) {
	case HCL2_BOOL: write_string(w, value->boolean ? "true" : "false"); return true;
	case HCL2_STRING: write_json_string(w, value->string); return true;
	case HCL2_NUMBER:
		*finite = mpfr_number_p(value->number);
		write_text(w, number_text(w->run, value->number));
		return *finite;
	default: return write_json_items(w, value, finite);
	}
}

static const struct hcl2_value *fn_jsonencode(struct call *call)
{
	struct writer w = {.run = call->run};
	bool finite;
	if (!value_write_json(&w, call->arguments[0], &finite) && !w.overflow)
		return call_failed(call, "the value cannot be written as JSON");
	return call_written(call, &w);
}

struct json_text {
	struct call *call;
	const char *at, *end;
	uint32_t depth;
};

static const struct hcl2_value *json_value(struct json_text *);

static void skip_blanks(struct json_text *json)
{
	while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
		json->at++;
}

static bool take_word(struct json_text *json, const char *word)
{
	size_t size = strlen(word);
	if ((size_t)(json->end - json->at) < size || memcmp(json->at, word, size) != 0)
		return false;
	json->at += size;
	return true;
}

static const struct hcl2_value *json_wrong(struct json_text *json)
{
	return call_wrong(json->call, 0, "this is not JSON: %.20s",
		json->at < json->end ? json->at : "it ends too early");
}

static bool hex_unit(struct json_text *json, gunichar *unit)
{
	*unit = 0;
	if (json->end - json->at < 4)
		return false;
	for (int i = 0; i < 4; i++, json->at++) {
		int digit = g_ascii_xdigit_value(*json->at);
		if (digit < 0)
			return false;
		*unit = *unit * 16 + (gunichar)digit;
	}
	return true;
}

static bool json_escape(struct json_text *json, struct writer *w)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	gunichar unit, low;
	char utf8[8];
	const char *letter = json->at < json->end ? strchr(letters, *json->at) : NULL;
	if (letter && *letter) {
		write_char(w, meant[letter - letters]);
		json->at++;
		return true;
	}
	if (!take_word(json, "u") || !hex_unit(json, &unit))
		return false;
	if (unit >= 0xd800 && unit < 0xdc00 && take_word(json, "\\u")) {
		if (!hex_unit(json, &low))
			return false;
		unit = low >= 0xdc00 && low < 0xe000
			       ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
			       : 0xfffd;
	}
	unit = g_unichar_validate(unit) ? unit : 0xfffd;
	write_text(w, (struct text){utf8, (uint32_t)g_unichar_to_utf8(unit, utf8)});
	return true;
}

static bool json_string(struct json_text *json, struct text *text)
{
	struct writer w = {.run = json->call->run};
	if (!take_word(json, "\""))
		return false;
	while (json->at < json->end && *json->at != '"') {
		if ((unsigned char)*json->at < 0x20)
			return false;
		if (take_word(json, "\\")) {
			if (!json_escape(json, &w))
				return false;
		} else {
			write_char(&w, *json->at++);
		}
	}
	*text = writer_text(&w);
	return take_word(json, "\"");
}

static const struct hcl2_value *json_number(struct json_text *json)
{
	const char *from = json->at;
	while (json->at < json->end && *json->at && strchr("0123456789+-.eE", *json->at))
		json->at++;
	const struct hcl2_value *number = NULL;
	if (*from == '-' || (*from >= '0' && *from <= '9'))
		number = value_parse_number(
			json->call->run, (struct text){from, (uint32_t)(json->at - from)});
	json->at = number ? json->at : from;
	return number ? number : json_wrong(json);
}

static const struct hcl2_value *json_items(struct json_text *json, bool object)
{
	struct members members = {0};
	struct text key = {0};
	const char *close = object ? "}" : "]";
	skip_blanks(json);
	bool more = !take_word(json, close);
	while (more) {
		skip_blanks(json);
		if (object) {
			if (!json_string(json, &key))
				return json_wrong(json);
			skip_blanks(json);
			if (!take_word(json, ":"))
				return json_wrong(json);
		}
		const struct hcl2_value *item = json_value(json);
		if (!item)
			return NULL;
		members_put(json->call->run, &members,
			object ? value_string(json->call->run, key)->string : key, item);
		skip_blanks(json);
		more = take_word(json, ",");
		if (!more && !take_word(json, close))
			return json_wrong(json);
	}
	return object ? members_object(json->call->run, &members)
		      : value_tuple(json->call->run, members.items, members.count);
}

static const struct hcl2_value *json_value(struct json_text *json)
{
	struct text text;
	const struct hcl2_value *value;
	skip_blanks(json);
	if (!hcl2_step(json->call->run, hcl2_range(json->call->node)))
		return call_failed(json->call, "there is too much of it");
	if (json->depth == HCL2_DEPTH_MAX)
		return call_wrong(json->call, 0, "it is nested too deep");
	if (take_word(json, "null"))
		return &hcl2_null;
	if (take_word(json, "true"))
		return value_bool(json->call->run, true);
	if (take_word(json, "false"))
		return value_bool(json->call->run, false);
	if (json->at < json->end && *json->at == '"')
		return json_string(json, &text) ? value_string(json->call->run, text)
						: json_wrong(json);
	json->depth++;
	if (take_word(json, "{"))
		value = json_items(json, true);
	else if (take_word(json, "["))
		value = json_items(json, false);
	else
		value = json->at < json->end ? json_number(json) : json_wrong(json);
	json->depth--;
	return value;
}

static const struct hcl2_value *json_decode_text(struct call *call, struct text text)
{
	struct json_text json = {call, text.data, text.data + text.size, 0};
	const struct hcl2_value *value = json_value(&json);
	skip_blanks(&json);
	return value && json.at < json.end ? json_wrong(&json) : value;
}

static const struct hcl2_value *fn_jsondecode(struct call *call)
{
	return json_decode_text(call, call_text(call, 0));
}

const struct hcl2_value *hcl2_parse_json(
	struct hcl2_run *run, struct text text, const char **problem)
{
	static const struct hcl2_node nowhere;
	struct call call = {.run = run, .node = &nowhere};
	const struct hcl2_value *value = json_decode_text(&call, text);
	*problem = call.problem;
	return value;
}

const struct function document_functions[] = {
	{"jsondecode", "s", fn_jsondecode},
	{"jsonencode", "?a", fn_jsonencode},
	{0},
};
