#include "tools/template/scan.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void template_place(struct text text, uint32_t at, struct template_trouble *trouble)
{
	trouble->line = 1;
	trouble->column = 1;
	for (uint32_t i = 0; i < at && i < text.size; i++) {
		if (text.data[i] == '\n') {
			trouble->line++;
			trouble->column = 1;
		} else if ((text.data[i] & 0xc0) != 0x80) { // not within a character
			trouble->column++;
		}
	}
}

void scan_fail(struct scanner *s, uint32_t at, const char *format, ...)
{
	va_list arguments;

	if (s->failed)
		return;
	s->failed = true;
	template_place(s->text, at, s->trouble);
	va_start(arguments, format);
	vsnprintf(s->trouble->text, sizeof s->trouble->text, format, arguments);
	va_end(arguments);
}

static bool stands_at(const struct scanner *s, uint32_t at, struct text what)
{
	return s->text.size - at >= what.size &&
	       memcmp(s->text.data + at, what.data, what.size) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_trim_mark(const struct scanner *s, uint32_t at)
{
	return at + 1 < s->text.size && s->text.data[at] == '-' && is_blank(s->text.data[at + 1]);
}

// The action's end, with the mark that takes the blanks behind it away; 0: it is not here.
static uint32_t end_bytes(const struct scanner *s, uint32_t at)
{
	bool trims = at + 2 < s->text.size && is_blank(s->text.data[at]) &&
		     s->text.data[at + 1] == '-' && stands_at(s, at + 2, s->right);

	if (trims)
		return 2 + s->right.size;
	return stands_at(s, at, s->right) ? s->right.size : 0;
}

static void skip_comment(struct scanner *s, uint32_t begin)
{
	const char *close = memmem(s->text.data + s->at + 2, s->text.size - s->at - 2, "*/", 2);
	uint32_t end = close ? (uint32_t)(close - s->text.data) + 2 : s->at;
	uint32_t bytes = close ? end_bytes(s, end) : 0;

	if (bytes == 0) {
		scan_fail(s, begin,
			close ? "a comment ends before the action does" : "a comment has no */");
		return;
	}
	s->trims = bytes > s->right.size;
	s->at = end + bytes;
}

enum scanned scan_text(struct scanner *s, struct text *text)
{
	uint32_t begin = s->at;

	for (; s->trims && begin < s->text.size && is_blank(s->text.data[begin]); begin++)
		;
	s->trims = false;
	const char *found =
		memmem(s->text.data + begin, s->text.size - begin, s->left.data, s->left.size);
	uint32_t action = found ? (uint32_t)(found - s->text.data) : s->text.size, end = action;
	s->at = action + (found ? s->left.size : 0);
	if (found && is_trim_mark(s, s->at)) {
		for (; end > begin && is_blank(s->text.data[end - 1]); end--)
			;
		s->at += 2;
	}
	*text = (struct text){s->text.data + begin, end - begin};
	if (!found)
		return SCANNED_LAST;
	if (!stands_at(s, s->at, TEXT("/*")))
		return SCANNED_BEFORE_ACTION;
	skip_comment(s, action);
	return s->failed ? SCANNED_LAST : SCANNED_BEFORE_COMMENT;
}

static bool is_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static struct text scan_name(struct scanner *s)
{
	uint32_t begin = s->at;
	for (; s->at < s->text.size && is_name_character(s->text.data[s->at]); s->at++)
		;
	return (struct text){s->text.data + begin, s->at - begin};
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

// Digits of an escape, all of them.
static bool read_digits(struct scanner *s, uint32_t count, int base, uint32_t *value)
{
	char digits[9] = "";
	char *end;

	if (s->text.size - s->at < count)
		return false;
	memcpy(digits, s->text.data + s->at, count);
	if (!isxdigit((unsigned char)digits[0]))
		return false;
	*value = (uint32_t)strtoul(digits, &end, base);
	s->at += count;
	return *end == '\0';
}

// An escape behind its backslash. NULL: there is no such escape.
static char *scan_escape(struct scanner *s, char *to)
{
	static const char letters[] = "abfnrtv\\'\"", meant[] = "\a\b\f\n\r\t\v\\'\"";
	char c = s->at < s->text.size ? s->text.data[s->at] : '\0';
	const char *known = c ? strchr(letters, c) : NULL;
	uint32_t value = 0;
	bool good;

	if (known) {
		s->at++;
		*to = meant[known - letters];
		return to + 1;
	}
	if (c >= '0' && c <= '7') {
		good = read_digits(s, 3, 8, &value) && value < 256;
	} else {
		s->at++;
		good = (c == 'x' && read_digits(s, 2, 16, &value)) ||
		       (c == 'u' && read_digits(s, 4, 16, &value)) ||
		       (c == 'U' && read_digits(s, 8, 16, &value));
	}
	if (!good || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return NULL;
	if (c == 'u' || c == 'U')
		return put_utf8(to, value);
	*to = (char)value;
	return to + 1;
}

// Where the quote closes on its line; 0: nowhere.
static uint32_t find_close(const struct scanner *s, char quote)
{
	for (uint32_t at = s->at + 1; at < s->text.size && s->text.data[at] != '\n'; at++) {
		if (s->text.data[at] == quote)
			return at;
		at += s->text.data[at] == '\\';
	}
	return 0;
}

// A text or a character between quotes, decoded.
static struct text scan_quoted(struct scanner *s, char quote)
{
	uint32_t begin = s->at, close = find_close(s, quote);

	if (!close) {
		scan_fail(s, begin, "the text has no closing %c on its line", quote);
		return TEXT("");
	}
	// No escape means more bytes than it has.
	char *copy = arena_room(s->memory, close - begin), *to = copy;
	for (s->at++; to && s->at < close;) {
		char c = s->text.data[s->at++];
		if (c == '\\')
			to = scan_escape(s, to);
		else
			*to++ = c;
	}
	if (!to) {
		scan_fail(s, begin, "the text has an escape that there is not");
		return TEXT("");
	}
	s->at = close + 1;
	return (struct text){copy, (uint32_t)(to - copy)};
}

static struct text scan_raw(struct scanner *s)
{
	const char *begin = s->text.data + s->at + 1;
	const char *close = memchr(begin, '`', s->text.size - s->at - 1);

	if (!close) {
		scan_fail(s, s->at, "the text has no closing `");
		return TEXT("");
	}
	s->at = (uint32_t)(close - s->text.data) + 1;
	return (struct text){begin, (uint32_t)(close - begin)};
}

static uint32_t decode_character(struct text t)
{
	const uint8_t *c = (const uint8_t *)t.data;
	switch (t.size) {
	case 1: return c[0];
	case 2: return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
	case 3: return (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
	default:
		return (c[0] & 7u) << 18 | (c[1] & 0x3fu) << 12 | (c[2] & 0x3fu) << 6 |
		       (c[3] & 0x3fu);
	}
}

static struct value scan_character(struct scanner *s)
{
	uint32_t begin = s->at;
	struct text t = scan_quoted(s, '\'');

	if (!s->failed && (t.size == 0 || text_utf8_bytes(t) != t.size)) {
		scan_fail(s, begin, "between single quotes there is one character");
		return value_int(0);
	}
	return value_int(s->failed ? 0 : decode_character(t));
}

static struct value scan_number(struct scanner *s)
{
	char digits[64];
	uint32_t size = 0, begin = s->at;
	char *end, last = '\0';

	for (; s->at < s->text.size && size + 1 < sizeof digits; s->at++) {
		char c = s->text.data[s->at];
		bool is_sign =
			(c == '-' || c == '+') && (s->at == begin || last == 'e' || last == 'E');
		if (!isalnum((unsigned char)c) && c != '.' && c != '_' && !is_sign)
			break;
		if (c != '_')
			digits[size++] = last = c;
	}
	digits[size] = '\0';
	errno = 0;
	struct value number = value_int(strtoll(digits, &end, 0));
	if (*end || errno) {
		errno = 0;
		number = value_float(strtod(digits, &end));
	}
	if (size == 0 || *end || errno || (number.kind == VALUE_FLOAT && !isfinite(number.real)))
		scan_fail(s, begin, "\"%s\" is no number", digits);
	return number;
}

static struct token scan_word(struct scanner *s, struct token t)
{
	static const struct {
		struct text word;
		struct value value;
	} constants[] = {{{"true", 4}, {.kind = VALUE_BOOL, .truth = true}},
		{{"false", 5}, {.kind = VALUE_BOOL}}, {{"nil", 3}, {.kind = VALUE_NIL}}};
	t.kind = TOKEN_NAME;
	t.text = scan_name(s);
	for (uint32_t i = 0; i < 3; i++)
		if (text_equal(t.text, constants[i].word)) {
			t.kind = TOKEN_CONSTANT;
			t.value = constants[i].value;
		}
	return t;
}

static struct token scan_mark(struct scanner *s, struct token t)
{
	static const char marks[] = "|(),=";
	static const enum token_kind kinds[] = {
		TOKEN_PIPE, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COMMA, TOKEN_ASSIGN};
	char c = s->text.data[s->at];
	const char *known = strchr(marks, c);

	if (c == ':' && stands_at(s, s->at, TEXT(":="))) {
		s->at += 2;
		t.kind = TOKEN_DECLARE;
	} else if (c && known) {
		s->at++;
		t.kind = kinds[known - marks];
	} else {
		scan_fail(s, s->at, "a character that has no meaning here: 0x%02x", (uint8_t)c);
	}
	return t;
}

static bool scan_end(struct scanner *s)
{
	uint32_t bytes = end_bytes(s, s->at);

	if (s->at < s->text.size && bytes == 0)
		return false;
	if (bytes == 0)
		scan_fail(s, s->at, "the template ends within an action");
	s->trims = bytes > s->right.size;
	s->at += bytes;
	return true;
}

struct token scan_token(struct scanner *s)
{
	struct token t = {.kind = TOKEN_END, .at = s->at};

	// The blank before "-}}" belongs to it.
	while (!s->failed && !scan_end(s)) {
		t.at = s->at;
		char c = s->text.data[s->at];
		char next = s->at + 1 < s->text.size ? s->text.data[s->at + 1] : '\0';
		if (is_blank(c)) {
			s->at++;
			t.after_space = true;
			continue;
		}
		if (c == '"' || c == '`' || c == '\'') {
			t.kind = TOKEN_CONSTANT;
			t.value = c == '\''
					  ? scan_character(s)
					  : value_text(c == '`' ? scan_raw(s) : scan_quoted(s, c));
		} else if (c == '.' &&
			   (isalpha((unsigned char)next) || next == '_' || (next & 0x80))) {
			s->at++;
			t.kind = TOKEN_FIELD;
			t.text = scan_name(s);
		} else if (isdigit((unsigned char)c) ||
			   (strchr("+-.", c) && c && isdigit((unsigned char)next))) {
			t.kind = TOKEN_CONSTANT;
			t.value = scan_number(s);
		} else if (c == '.') {
			s->at++;
			t.kind = TOKEN_DOT;
		} else if (c == '$') {
			s->at++;
			t.kind = TOKEN_VARIABLE;
			t.text = scan_name(s);
		} else {
			return is_name_character(c) ? scan_word(s, t) : scan_mark(s, t);
		}
		return t;
	}
	return t;
}
