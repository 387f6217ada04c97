// JSON, base64, digests, escapes.
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "tools/template/functions.h"
#include <ctype.h>
#include <glib.h>
#include <stdlib.h>

struct value tf_parse_json(struct call *call)
{
	struct text t = argument_text(call, 0);
	json_error_t error;

	if (t.size == 0) // consul-template reads nothing as an empty map
		return (struct value){.kind = VALUE_MAP};
	json_t *json = json_loadb(t.data, t.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (!json)
		return function_fail(call, "the text is not JSON: %.100s", error.text);
	struct value v = value_of_json(call->run, json, 0);
	json_decref(json);
	return v;
}

static struct value write_json(struct call *call, size_t flags)
{
	json_t *json = value_to_json(call->args[0], 0);
	char *text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_SORT_KEYS | flags) : NULL;

	json_decref(json);
	if (!text)
		return function_fail(call,
			"the value is nested too deep, or holds a text that is not "
			"UTF-8");
	struct value v = value_copy(call->run, text, strlen(text));
	free(text);
	return v;
}

struct value tf_to_json(struct call *call)
{
	return write_json(call, JSON_COMPACT);
}

struct value tf_to_json_pretty(struct call *call)
{
	return write_json(call, JSON_INDENT(2));
}

struct value tf_base64_encode(struct call *call)
{
	char *encoded = base64_encode(argument_text(call, 0));
	struct value v = value_copy(call->run, encoded, strlen(encoded));
	free(encoded);
	return v;
}

static struct value decode(struct call *call, const char *text, size_t size)
{
	struct value v = value_copy(call->run, text, size);
	size_t bytes = 0;

	if (v.kind != VALUE_TEXT)
		return v;
	if (!base64_decode(v.text.data, size, (uint8_t *)v.text.data, &bytes))
		return function_fail(call, "the text is not base64");
	return value_text((struct text){v.text.data, (uint32_t)bytes});
}

struct value tf_base64_decode(struct call *call)
{
	struct text t = argument_text(call, 0);
	return decode(call, t.data, t.size);
}

static void exchange_characters(char *text, const char *from, const char *to)
{
	for (; *text; text++)
		for (int i = 0; i < 2; i++)
			if (*text == from[i]) {
				*text = to[i];
				break;
			}
}

struct value tf_base64_url_encode(struct call *call)
{
	char *encoded = base64_encode(argument_text(call, 0));
	exchange_characters(encoded, "+/", "-_");
	struct value v = value_copy(call->run, encoded, strlen(encoded));
	free(encoded);
	return v;
}

struct value tf_base64_url_decode(struct call *call)
{
	char *copy = text_copy(argument_text(call, 0));
	exchange_characters(copy, "-_", "+/");
	struct value v = decode(call, copy, strlen(copy));
	free(copy);
	return v;
}

static struct value hex_digest(struct call *call, GChecksumType type)
{
	struct text t = argument_text(call, 0);
	char *hex = g_compute_checksum_for_data(type, (const guchar *)t.data, t.size);
	struct value v = value_copy(call->run, hex, strlen(hex));
	g_free(hex);
	return v;
}

struct value tf_sha256_hex(struct call *call)
{
	return hex_digest(call, G_CHECKSUM_SHA256);
}

struct value tf_md5sum(struct call *call)
{
	return hex_digest(call, G_CHECKSUM_MD5);
}

struct value tf_html(struct call *call)
{
	static const struct {
		char c;
		const char *text;
	} escapes[] = {
		{'"', "&#34;"}, {'\'', "&#39;"}, {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
	struct text t = argument_text(call, 0);
	struct bytes_writer w = bytes_writer_growing(t.size + 1);

	for (uint32_t i = 0; i < t.size; i++) {
		const char *text = NULL;
		for (uint32_t e = 0; e < 5; e++)
			if (t.data[i] == escapes[e].c)
				text = escapes[e].text;
		bytes_put(&w, text ? text : &t.data[i], text ? strlen(text) : 1);
	}
	return function_written(call, &w);
}

struct value tf_urlquery(struct call *call)
{
	static const char digits[] = "0123456789ABCDEF";
	struct bytes_writer printed = bytes_writer_growing(64), w = bytes_writer_growing(64);

	for (uint32_t i = 0; i < call->count; i++)
		value_print(&printed, call->args[i], 1);
	for (size_t i = 0; i < printed.size; i++) {
		uint8_t c = printed.data[i];
		if (isalnum(c) || strchr("-_.~", c ? c : '/')) {
			bytes_put_u8(&w, c);
		} else if (c == ' ') {
			bytes_put_u8(&w, '+');
		} else {
			bytes_put_u8(&w, '%');
			bytes_put_u8(&w, (uint8_t)digits[c >> 4]);
			bytes_put_u8(&w, (uint8_t)digits[c & 15]);
		}
	}
	bytes_writer_free(&printed);
	return function_written(call, &w);
}
