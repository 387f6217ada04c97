#include "state/base/check.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "tools/hcl/hcl_tokens.h"
#include <stdlib.h>

struct hcl_document {
	struct arena memory;
	struct hcl_body body;
};

struct reader {
	struct hcl_tokens tokens;
	struct hcl_token token; // the next one
	uint32_t depth;
	struct hcl_error *error;
};

static bool read_value(struct reader *, struct hcl_value *);
static bool read_items(struct reader *, struct hcl_body *);

static bool refuse_text(struct reader *reader, const char *text)
{
	const struct hcl_token *token = &reader->token;
	if (token->kind == HCL_TOKEN_MISTAKE)
		return false;
	return hcl_mistake(reader->error, token->line, token->column, "%s", text);
}

static void read_on(struct reader *reader)
{
	CHECK(reader->token.kind != HCL_TOKEN_MISTAKE);
	reader->token = hcl_token_next(&reader->tokens);
}

static bool is_sign(const struct reader *reader, char sign)
{
	return reader->token.kind == HCL_TOKEN_SIGN && reader->token.sign == sign;
}

static bool skip_sign(struct reader *reader, char sign)
{
	bool is_there = is_sign(reader, sign);
	if (is_there)
		read_on(reader);
	return is_there;
}

static bool enter(struct reader *reader)
{
	if (reader->depth == JSON_DEPTH_MAX)
		return refuse_text(reader, "this is nested too deep");
	reader->depth++;
	read_on(reader);
	return true;
}

// The items between braces.
static bool read_object(struct reader *reader, struct hcl_value *value)
{
	value->kind = HCL_OBJECT;
	if (!enter(reader) || !read_items(reader, &value->object))
		return false;
	if (reader->token.kind == HCL_TOKEN_END)
		return refuse_text(reader, "object expected closing RBRACE got: EOF");
	reader->depth--;
	return skip_sign(reader, '}') || refuse_text(reader, "a name or } is expected here");
}

static bool read_list(struct reader *reader, struct hcl_value *value)
{
	struct hcl_value **end = &value->list;
	value->kind = HCL_LIST;
	if (!enter(reader))
		return false;
	while (!is_sign(reader, ']')) {
		*end = arena_take(reader->tokens.memory, sizeof **end);
		if (!read_value(reader, *end))
			return false;
		end = &(*end)->next;
		if (!skip_sign(reader, ',') && !is_sign(reader, ']'))
			return refuse_text(reader, "a comma or ] is expected here");
	}
	reader->depth--;
	read_on(reader);
	return true;
}

static bool read_word(struct reader *reader, struct hcl_value *value)
{
	const char *word = reader->token.text;
	bool is_true = strcmp(word, "true") == 0;
	if (is_true || strcmp(word, "false") == 0)
		value->kind = HCL_BOOL;
	else if (strcmp(word, "null") != 0)
		return refuse_text(reader, "nothing is evaluated here: put a text in quotes");
	value->boolean = is_true;
	read_on(reader);
	return true;
}

static bool read_value(struct reader *reader, struct hcl_value *value)
{
	const struct hcl_token *token = &reader->token;
	value->line = token->line;
	value->column = token->column;
	if (is_sign(reader, '{'))
		return read_object(reader, value);
	if (is_sign(reader, '['))
		return read_list(reader, value);
	if (token->kind == HCL_TOKEN_WORD)
		return read_word(reader, value);
	if (token->kind != HCL_TOKEN_STRING && token->kind != HCL_TOKEN_NUMBER)
		return refuse_text(reader, "a value is expected here");
	value->kind = token->kind == HCL_TOKEN_STRING ? HCL_STRING : HCL_NUMBER;
	value->string = token->text;
	value->number = token->number;
	read_on(reader);
	return true;
}

static bool is_name(const struct reader *reader)
{
	return reader->token.kind == HCL_TOKEN_WORD || reader->token.kind == HCL_TOKEN_STRING;
}

static bool read_block(struct reader *reader, struct hcl_item *item)
{
	item->is_block = true;
	while (is_name(reader)) {
		if (item->label_count == HCL_LABELS_MAX)
			return refuse_text(reader, "a block has at most four labels");
		item->labels[item->label_count++] = reader->token.text;
		read_on(reader);
	}
	item->value.line = reader->token.line;
	item->value.column = reader->token.column;
	if (!is_sign(reader, '{'))
		return refuse_text(reader, item->label_count ? "a block's { is expected here"
							     : "= or a block's { is expected here");
	return read_object(reader, &item->value);
}

static bool read_item(struct reader *reader, struct hcl_item *item)
{
	item->name = reader->token.text;
	read_on(reader);
	if (skip_sign(reader, '=') || skip_sign(reader, ':'))
		return read_value(reader, &item->value);
	return read_block(reader, item);
}

// Reads items as long as there are some.
static bool read_items(struct reader *reader, struct hcl_body *body)
{
	struct hcl_item **end = &body->first;
	while (is_name(reader)) {
		*end = arena_take(reader->tokens.memory, sizeof **end);
		if (!read_item(reader, *end))
			return false;
		end = &(*end)->next;
		(void)skip_sign(reader, ',');
	}
	return reader->token.kind != HCL_TOKEN_MISTAKE;
}

static bool read_all(struct reader *reader, struct hcl_body *body)
{
	struct hcl_value json = {HCL_NULL};
	reader->token = hcl_token_next(&reader->tokens);
	bool is_json = is_sign(reader, '{');
	if (is_json ? !read_object(reader, &json) : !read_items(reader, body))
		return false;
	if (is_json)
		*body = json.object;
	return reader->token.kind == HCL_TOKEN_END ||
	       refuse_text(reader, "a name is expected here");
}

// Strings of the tree are UTF-8 without NUL, because all of the text is.
static bool check_text(const char *data, uint32_t size, struct hcl_error *error)
{
	uint32_t line = 1, column = 1;
	if (size > JOB_JSON_BYTES_MAX)
		return hcl_mistake(error, 1, 1, "the text is larger than 1 MiB");
	for (uint32_t at = 0; at < size;) {
		uint32_t bytes = text_utf8_bytes((struct text){data + at, size - at});
		if (bytes == 0 || data[at] == '\0')
			return hcl_mistake(error, line, column, "this is not UTF-8 text");
		line += data[at] == '\n';
		column = data[at] == '\n' ? 1 : column + 1;
		at += bytes;
	}
	return true;
}

struct hcl_document *hcl_read(const char *data, uint32_t size, struct hcl_error *error)
{
	if (!check_text(data, size, error))
		return NULL;
	struct hcl_document *document = memory_take(sizeof *document);
	struct reader reader = {.error = error,
		.tokens = {.rest = {data, size},
			.line = 1,
			.column = 1,
			.memory = &document->memory,
			.error = error}};
	if (read_all(&reader, &document->body))
		return document;
	hcl_free(document);
	return NULL;
}

const struct hcl_body *hcl_body(const struct hcl_document *document)
{
	return &document->body;
}

void hcl_free(struct hcl_document *document)
{
	if (!document)
		return;
	arena_release(&document->memory);
	free(document);
}
