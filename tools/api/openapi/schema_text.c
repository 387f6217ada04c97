// The notation of schema.h, read from left to right.
#include "state/base/check.h"
#include "tools/api/openapi/schema.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct notation {
	struct json_writer *to;
	const char *at;
	enum schema_side side;
};

static void write_one(struct notation *);

static char notation_next(struct notation *n)
{
	n->at += strspn(n->at, " ");
	return *n->at;
}

static bool notation_takes(struct notation *n, char c)
{
	bool is_next = notation_next(n) == c;
	n->at += is_next;
	return is_next;
}

static struct text take_word(struct notation *n)
{
	(void)notation_next(n);
	const char *begin = n->at;
	while (isalnum((unsigned char)*n->at) || *n->at == '_' || *n->at == '-' || *n->at == '*')
		n->at++;
	CHECK(n->at > begin);
	return (struct text){begin, (uint32_t)(n->at - begin)};
}

static const struct {
	const char *word, *type, *format;
} plain_types[] = {
	{"string", "string", NULL},
	{"uuid", "string", NULL}, // or empty
	{"time", "string", "date-time"},
	{"integer", "integer", NULL},
	{"number", "number", NULL},
	{"boolean", "boolean", NULL},
};

static bool is_named(struct text name)
{
	for (const struct named_schema *s = named_schemas; s->name; s++)
		if (text_equal(name, text_of(s->name)))
			return true;
	return false;
}

void schema_write_null(struct json_writer *w)
{
	json_begin_object(w);
	json_put_string(w, "type", "null");
	json_end_object(w);
}

static void write_reference(struct notation *n, struct text name, bool is_nullable)
{
	CHECK(is_named(name));
	const char *suffix = n->side == SCHEMA_OF_BODY ? SCHEMA_BODY_SUFFIX : "";
	json_begin_object(n->to);
	if (is_nullable) {
		json_open_array(n->to, "anyOf");
		json_begin_object(n->to);
	}
	char reference[128];
	snprintf(reference, sizeof reference, "#/components/schemas/%.*s%s", (int)name.size,
		name.data, suffix);
	json_put_string(n->to, "$ref", reference);
	if (is_nullable) {
		json_end_object(n->to);
		schema_write_null(n->to);
		json_end_array(n->to);
	}
	json_end_object(n->to);
}

// "type": what it says, or that and null.
static void write_type(struct json_writer *w, const char *type, bool is_nullable)
{
	if (!is_nullable) {
		json_put_string(w, "type", type);
		return;
	}
	json_open_array(w, "type");
	json_write_string(w, type);
	json_write_string(w, "null");
	json_end_array(w);
}

static void write_word(struct notation *n)
{
	struct text word = take_word(n);
	bool is_nullable = notation_takes(n, '?');
	if (isupper((unsigned char)word.data[0])) {
		write_reference(n, word, is_nullable);
		return;
	}
	json_begin_object(n->to);
	bool is_known = text_equal(word, TEXT("any"));
	for (size_t i = 0; i < sizeof plain_types / sizeof plain_types[0]; i++) {
		if (!text_equal(word, text_of(plain_types[i].word)))
			continue;
		is_known = true;
		write_type(n->to, plain_types[i].type, is_nullable);
		if (plain_types[i].format)
			json_put_string(n->to, "format", plain_types[i].format);
	}
	CHECK(is_known);
	json_end_object(n->to);
}

// The end of what begins here, behind its last bracket.
static const char *end_of(const char *at)
{
	uint32_t depth = 0;
	do {
		CHECK(*at);
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		at++;
	} while (depth > 0);
	return at;
}

static bool ends_in_null(const char *begin)
{
	return *end_of(begin) == '?';
}

static void write_list(struct notation *n)
{
	json_begin_object(n->to);
	write_type(n->to, "array", ends_in_null(n->at));
	CHECK(notation_takes(n, '['));
	json_write_key(n->to, "items");
	write_one(n);
	CHECK(notation_takes(n, ']'));
	(void)notation_takes(n, '?');
	json_end_object(n->to);
}

#define MEMBERS_MAX 64u
struct required {
	struct text names[MEMBERS_MAX];
	uint32_t count;
};

static void write_members(struct notation *n, struct required *required)
{
	while (!notation_takes(n, '}')) {
		struct text name = take_word(n);
		bool is_optional = notation_takes(n, '?');
		CHECK(notation_takes(n, ':'));
		if (!is_optional) {
			CHECK(required->count < MEMBERS_MAX);
			required->names[required->count++] = name;
		}
		json_write_plain_key(n->to, name.data, name.size);
		write_one(n);
		(void)notation_takes(n, ',');
	}
	(void)notation_takes(n, '?');
}

static void write_required(struct json_writer *w, const struct required *required)
{
	if (required->count == 0)
		return;
	json_open_array(w, "required");
	for (uint32_t i = 0; i < required->count; i++)
		json_write_text(w, required->names[i]);
	json_end_array(w);
}

static void write_object(struct notation *n)
{
	struct required required = {.count = 0};
	json_begin_object(n->to);
	write_type(n->to, "object", ends_in_null(n->at));
	CHECK(notation_takes(n, '{'));
	if (notation_next(n) == '*') {
		(void)take_word(n);
		CHECK(notation_takes(n, ':'));
		json_write_key(n->to, "additionalProperties");
		write_one(n);
		CHECK(notation_takes(n, '}'));
		(void)notation_takes(n, '?');
	} else {
		json_open_object(n->to, "properties");
		write_members(n, &required);
		json_end_object(n->to);
	}
	if (n->side == SCHEMA_OF_ANSWER)
		write_required(n->to, &required);
	json_end_object(n->to);
}

static void write_one(struct notation *n)
{
	switch (notation_next(n)) {
	case '[': write_list(n); break;
	case '{': write_object(n); break;
	default: write_word(n);
	}
}

void schema_write_text(struct json_writer *w, const char *text, enum schema_side side)
{
	struct notation n = {w, text, side};
	write_one(&n);
	CHECK(notation_next(&n) == '\0');
}

void schema_write_members(struct json_writer *w, const char *text, enum schema_side side)
{
	struct notation n = {w, text, side};
	struct required required = {.count = 0};
	CHECK(notation_takes(&n, '{'));
	write_members(&n, &required);
	CHECK(notation_next(&n) == '\0' && required.count == 0);
}
