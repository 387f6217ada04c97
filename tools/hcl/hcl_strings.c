// Quoted strings with their escapes, and texts of several lines.
#include "state/base/check.h"
#include "tools/hcl/hcl_tokens.h"

// Bytes up to the closing quote; UINT32_MAX: there is none on the line.
static uint32_t quoted_size(struct text rest)
{
	for (uint32_t i = 0; i < rest.size && rest.data[i] != '\n'; i++) {
		if (rest.data[i] == '"')
			return i;
		if (rest.data[i] == '\\')
			i++;
	}
	return UINT32_MAX;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Reads digits of a code point, where size are left; UINT32_MAX: too few, or others.
static uint32_t hex_number(const char *digits, uint32_t size, uint32_t count)
{
	uint32_t number = 0;
	if (size < count)
		return UINT32_MAX;
	for (uint32_t i = 0; i < count; i++) {
		int value = hex_value(digits[i]);
		if (value < 0)
			return UINT32_MAX;
		number = number * 16 + (uint32_t)value;
	}
	return number;
}

static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	uint32_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	*to++ = (char)((0xf00u >> (more + 1)) | (code >> (6 * more)));
	while (more-- > 0)
		*to++ = (char)(0x80 | ((code >> (6 * more)) & 0x3f));
	return to;
}

// The code point of \uXXXX, of a pair of them, or of \UXXXXXXXX, and its bytes in the text; 0 when it is none.
static uint32_t unicode_escape(struct text rest, uint32_t *used)
{
	uint32_t digits = rest.data[1] == 'U' ? 8 : 4;
	uint32_t code = hex_number(rest.data + 2, rest.size - 2, digits);
	*used = 2 + digits;
	if (code >= 0xd800 && code < 0xdc00 && rest.size >= 12 && rest.data[6] == '\\' &&
		rest.data[7] == 'u') {
		uint32_t low = hex_number(rest.data + 8, rest.size - 8, 4);
		*used = 12;
		if (low < 0xdc00 || low > 0xdfff)
			return 0;
		return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : code;
}

// Writes the character of the escape that the text begins with. Its bytes in the text; 0: it is none.
static uint32_t take_escape(struct text rest, char **to)
{
	static const char letters[] = "nrtbf\"\\/", meant[] = "\n\r\t\b\f\"\\/";
	const char *letter = strchr(letters, rest.data[1]);
	uint32_t used = 2;
	if (letter && *letter) {
		*(*to)++ = meant[letter - letters];
		return used;
	}
	if (rest.data[1] != 'u' && rest.data[1] != 'U')
		return 0;
	uint32_t code = unicode_escape(rest, &used);
	if (code)
		*to = put_utf8(*to, code);
	return code ? used : 0;
}

const char *hcl_quoted_text(struct hcl_tokens *tokens)
{
	uint32_t line = tokens->line, column = tokens->column;
	hcl_advance(tokens, 1);
	uint32_t left = quoted_size(tokens->rest);
	if (left == UINT32_MAX) {
		(void)hcl_mistake(
			tokens->error, line, column, "the string has no closing quote on its line");
		return NULL;
	}
	char *text = arena_take(tokens->memory, left + 1), *to = text;
	while (left > 0) {
		uint32_t used = 1;
		if (*tokens->rest.data != '\\')
			*to++ = *tokens->rest.data;
		else
			used = take_escape((struct text){tokens->rest.data, left}, &to);
		if (used == 0) {
			(void)hcl_mistake(tokens->error, tokens->line, tokens->column,
				"this is no escape; write a backslash as two");
			return NULL;
		}
		CHECK(used <= left);
		hcl_advance(tokens, used);
		left -= used;
	}
	hcl_advance(tokens, 1);
	return text;
}

// The next line without its end.
static struct text line_of(struct text rest)
{
	const char *end = memchr(rest.data, '\n', rest.size);
	return (struct text){rest.data, end ? (uint32_t)(end - rest.data) : rest.size};
}

static uint32_t indentation_of(struct text line)
{
	uint32_t blanks = 0;
	while (blanks < line.size && (line.data[blanks] == ' ' || line.data[blanks] == '\t'))
		blanks++;
	return blanks;
}

static struct text trim_line(struct text line)
{
	uint32_t blanks = indentation_of(line);
	line = (struct text){line.data + blanks, line.size - blanks};
	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	return line;
}

// Moves past the lines of the text, up to the line that is its mark alone. False when there is none.
static bool skip_lines(struct hcl_tokens *tokens, struct text mark, uint32_t *indentation)
{
	*indentation = UINT32_MAX;
	while (tokens->rest.size) {
		struct text line = line_of(tokens->rest);
		if (text_equal(trim_line(line), mark))
			return true;
		uint32_t blanks = indentation_of(line);
		if (trim_line(line).size && blanks < *indentation)
			*indentation = blanks;
		hcl_advance(tokens, line.size + (line.size < tokens->rest.size));
	}
	return false;
}

// Copies the lines, each without so many of its first blanks.
static const char *copy_lines(struct arena *memory, struct text lines, uint32_t indentation)
{
	char *text = arena_take(memory, lines.size + 1), *to = text;
	while (lines.size) {
		struct text line = line_of(lines);
		uint32_t all = line.size + (line.size < lines.size);
		uint32_t blanks = indentation_of(line);
		uint32_t left_out = blanks < indentation ? blanks : indentation;
		memcpy(to, line.data + left_out, all - left_out);
		to += all - left_out;
		lines = (struct text){lines.data + all, lines.size - all};
	}
	return text;
}

const char *hcl_lines_text(struct hcl_tokens *tokens)
{
	uint32_t line = tokens->line, column = tokens->column, indentation;
	struct text head = line_of(tokens->rest);
	bool is_indented = head.size > 2 && head.data[2] == '-';
	uint32_t before = 2 + is_indented;
	struct text mark = trim_line((struct text){head.data + before, head.size - before});
	hcl_advance(tokens, head.size + (head.size < tokens->rest.size));
	struct text lines = tokens->rest;
	if (!mark.size || !skip_lines(tokens, mark, &indentation)) {
		(void)hcl_mistake(
			tokens->error, line, column, "the text has no line that is its mark alone");
		return NULL;
	}
	lines.size -= tokens->rest.size;
	hcl_advance(tokens, indentation_of(line_of(tokens->rest)) + mark.size);
	return copy_lines(tokens->memory, lines, is_indented ? indentation : 0);
}
