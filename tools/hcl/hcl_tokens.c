#include "tools/hcl/hcl_tokens.h"
#include "state/base/check.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBER_BYTES_MAX 64u

bool hcl_mistake(struct hcl_error *error, uint32_t line, uint32_t column, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	error->line = line;
	error->column = column;
	return false;
}

void hcl_advance(struct hcl_tokens *tokens, uint32_t bytes)
{
	CHECK(bytes <= tokens->rest.size);
	for (uint32_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)tokens->rest.data[i];
		if (c == '\n') {
			tokens->line++;
			tokens->column = 1;
		} else if ((c & 0xc0) != 0x80) {
			tokens->column++;
		}
	}
	tokens->rest.data += bytes;
	tokens->rest.size -= bytes;
}

static bool rest_begins(const struct hcl_tokens *tokens, const char *with)
{
	struct text prefix = text_of(with);
	return tokens->rest.size >= prefix.size &&
	       memcmp(tokens->rest.data, prefix.data, prefix.size) == 0;
}

static void skip_line(struct hcl_tokens *tokens)
{
	const char *end = memchr(tokens->rest.data, '\n', tokens->rest.size);
	hcl_advance(tokens, end ? (uint32_t)(end - tokens->rest.data) : tokens->rest.size);
}

static bool skip_long_comment(struct hcl_tokens *tokens)
{
	uint32_t line = tokens->line, column = tokens->column;
	hcl_advance(tokens, 2);
	while (tokens->rest.size && !rest_begins(tokens, "*/"))
		hcl_advance(tokens, 1);
	if (!tokens->rest.size)
		return hcl_mistake(tokens->error, line, column, "the comment has no end");
	hcl_advance(tokens, 2);
	return true;
}

// Skips blanks and comments.
static bool skip_between(struct hcl_tokens *tokens)
{
	while (tokens->rest.size) {
		if (strchr(" \t\r\n", *tokens->rest.data))
			hcl_advance(tokens, 1);
		else if (*tokens->rest.data == '#' || rest_begins(tokens, "//"))
			skip_line(tokens);
		else if (!rest_begins(tokens, "/*"))
			return true;
		else if (!skip_long_comment(tokens))
			return false;
	}
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool begins_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Words and numbers go on with these.
static bool goes_on(char c)
{
	return begins_word(c) || is_digit(c) || c == '-' || c == '.';
}

static uint32_t word_size(const struct hcl_tokens *tokens)
{
	uint32_t size = 1;
	while (size < tokens->rest.size && goes_on(tokens->rest.data[size]))
		size++;
	// The sign of an exponent.
	if (size < tokens->rest.size && is_digit(*tokens->rest.data) &&
		tokens->rest.data[size] == '+')
		for (size++; size < tokens->rest.size && is_digit(tokens->rest.data[size]);)
			size++;
	return size;
}

static void take_word(struct hcl_tokens *tokens, struct hcl_token *token)
{
	uint32_t size = word_size(tokens);
	token->kind = HCL_TOKEN_WORD;
	token->text = memcpy(arena_take(tokens->memory, size + 1), tokens->rest.data, size);
	hcl_advance(tokens, size);
}

static bool number_read(struct text word, double *number)
{
	char text[NUMBER_BYTES_MAX], *end;
	if (word.size >= sizeof text)
		return false;
	memcpy(text, word.data, word.size);
	text[word.size] = '\0';
	*number = strtod(text, &end);
	return is_digit(text[text[0] == '-']) && !*end && end[-1] != '.' && isfinite(*number);
}

static bool take_number(struct hcl_tokens *tokens, struct hcl_token *token)
{
	struct text word = {tokens->rest.data, word_size(tokens)};
	token->kind = HCL_TOKEN_NUMBER;
	if (!number_read(word, &token->number))
		return hcl_mistake(tokens->error, token->line, token->column, "this is no number");
	hcl_advance(tokens, word.size);
	return true;
}

static bool take_string(struct hcl_tokens *tokens, struct hcl_token *token)
{
	token->kind = HCL_TOKEN_STRING;
	token->text = *tokens->rest.data == '"' ? hcl_quoted_text(tokens) : hcl_lines_text(tokens);
	return token->text != NULL;
}

static bool take_sign(struct hcl_tokens *tokens, struct hcl_token *token)
{
	token->kind = HCL_TOKEN_SIGN;
	token->sign = *tokens->rest.data;
	if (!strchr("{}[]=:,", token->sign))
		return hcl_mistake(tokens->error, token->line, token->column,
			"nothing begins with this character");
	hcl_advance(tokens, 1);
	return true;
}

static bool take_token(struct hcl_tokens *tokens, struct hcl_token *token)
{
	char c = *tokens->rest.data;
	if (begins_word(c)) {
		take_word(tokens, token);
		return true;
	}
	if (is_digit(c) || c == '-')
		return take_number(tokens, token);
	if (c == '"' || rest_begins(tokens, "<<"))
		return take_string(tokens, token);
	return take_sign(tokens, token);
}

struct hcl_token hcl_token_next(struct hcl_tokens *tokens)
{
	struct hcl_token token = {HCL_TOKEN_MISTAKE};
	if (!skip_between(tokens))
		return token;
	token.line = tokens->line;
	token.column = tokens->column;
	if (!tokens->rest.size) {
		// Other readers of the syntax say that the end is behind the place after the last character.
		token.column++;
		token.kind = HCL_TOKEN_END;
	} else if (!take_token(tokens, &token)) {
		token.kind = HCL_TOKEN_MISTAKE;
	}
	return token;
}
