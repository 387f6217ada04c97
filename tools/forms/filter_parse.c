// Parses filters by recursive descent, with a bounded depth.
#include "placement/constraint/constraint.h"
#include "placement/constraint/regexp.h"
#include "state/base/memory.h"
#include "tools/forms/filter_terms.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_TERM UINT32_MAX

enum word_kind { WORD_END, WORD_NAME, WORD_QUOTED, WORD_SIGN };

struct word {
	enum word_kind kind;
	char *text;     // owned
	uint32_t start; // where the word begins
};

struct parser {
	struct text text;
	uint32_t at; // behind the word
	struct word word;
	struct filter *filter;
	uint32_t depth;
	char *message; // of FILTER_MESSAGE_BYTES; "": no mistake yet
};

// Keeps the first mistake. Returns false, so that a function can end with it.
static bool refuse_filter(struct parser *p, uint32_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool refuse_filter(struct parser *p, uint32_t at, const char *format, ...)
{
	if (p->message[0])
		return false;
	int size = snprintf(p->message, FILTER_MESSAGE_BYTES, "filter: at character %u: ", at + 1);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(p->message + size, FILTER_MESSAGE_BYTES - (size_t)size, format, arguments);
	va_end(arguments);
	return false;
}

static char peek(const struct parser *p)
{
	return p->at < p->text.size ? p->text.data[p->at] : '\0';
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || strchr("_-./:*+@", c) != NULL;
}

static void take_token(struct parser *p, enum word_kind kind, uint32_t start, uint32_t end)
{
	p->word.kind = kind;
	p->word.text = text_copy((struct text){p->text.data + start, end - start});
}

static bool take_raw(struct parser *p, uint32_t start)
{
	while (peek(p) && peek(p) != '`')
		p->at++;
	if (!peek(p))
		return refuse_filter(p, start, "a text that begins with ` does not end with one");
	take_token(p, WORD_QUOTED, start + 1, p->at++);
	return true;
}

// The JSON parser reads quotes and escapes.
static bool take_quoted(struct parser *p, uint32_t start)
{
	for (; peek(p) && peek(p) != '"'; p->at++)
		if (peek(p) == '\\' && p->at + 1 < p->text.size)
			p->at++;
	if (!peek(p))
		return refuse_filter(p, start, "a text that begins with \" does not end with one");
	p->at++;
	json_error_t error;
	json_t *value = json_loadb(p->text.data + start, p->at - start, JSON_DECODE_ANY, &error);
	if (!value)
		return refuse_filter(p, start,
			"this text is not as in JSON (%.100s); between ` and ` nothing is escaped",
			error.text);
	p->word.kind = WORD_QUOTED;
	p->word.text = text_copy(text_of(json_string_value(value)));
	json_decref(value);
	return true;
}

static bool take_sign(struct parser *p, uint32_t start)
{
	char c = peek(p);
	bool pair = (c == '=' || c == '!') && start + 1 < p->text.size &&
		    p->text.data[start + 1] == '=';
	if (!pair && (!c || !strchr("()[]", c)))
		return refuse_filter(p, start,
			isprint((unsigned char)c)
				? "\"%c\" begins nothing that is known here; text "
				  "that has other than letters, digits and _-./:*+@ "
				  "goes between quotes"
				: "the byte %d begins nothing that is known here",
			c);
	p->at += pair ? 2 : 1;
	take_token(p, WORD_SIGN, start, p->at);
	return true;
}

static bool next(struct parser *p)
{
	free(p->word.text);
	p->word.text = NULL;
	while (peek(p) && isspace((unsigned char)peek(p)))
		p->at++;
	uint32_t start = p->word.start = p->at;
	p->word.kind = WORD_END;
	if (start == p->text.size)
		return true;
	if (peek(p) == '"' || peek(p) == '`')
		return p->at++,
		       p->text.data[start] == '`' ? take_raw(p, start) : take_quoted(p, start);
	if (!peek(p) || !is_of_name(peek(p)))
		return take_sign(p, start);
	while (peek(p) && is_of_name(peek(p)))
		p->at++;
	take_token(p, WORD_NAME, start, p->at);
	return true;
}

static bool is_word(const struct parser *p, enum word_kind kind, const char *text)
{
	return p->word.kind == kind && strcmp(p->word.text, text) == 0;
}

static bool expected(struct parser *p, const char *what)
{
	if (p->word.kind == WORD_END)
		return refuse_filter(p, p->word.start, "%s is expected, but the filter ends", what);
	return refuse_filter(p, p->word.start, "%s is expected, not \"%.64s\"", what, p->word.text);
}

// Takes the word if it has that name.
static bool accept(struct parser *p, const char *name)
{
	return is_word(p, WORD_NAME, name) && next(p);
}

static uint32_t term_add(struct parser *p, enum filter_kind kind)
{
	if (p->filter->count == FILTER_TERMS_MAX) {
		refuse_filter(p, p->word.start, "it compares and joins more than %u things",
			FILTER_TERMS_MAX);
		return NO_TERM;
	}
	p->filter->terms[p->filter->count].kind = kind;
	return p->filter->count++;
}

static bool add_part(struct parser *p, struct filter_term *term, struct text part, uint32_t at)
{
	if (term->part_count == FILTER_PARTS_MAX)
		return refuse_filter(p, at, "a selector has at most %u parts", FILTER_PARTS_MAX);
	if (!part.size)
		return refuse_filter(p, at, "a part of this selector is empty");
	term->parts[term->part_count++] = text_copy(part);
	return true;
}

static bool add_dotted(struct parser *p, struct filter_term *term, const char *dotted, uint32_t at)
{
	for (;;) {
		uint32_t size = (uint32_t)strcspn(dotted, ".");
		if (!add_part(p, term, (struct text){dotted, size}, at))
			return false;
		if (!dotted[size])
			return true;
		dotted += size + 1;
	}
}

// Parses Name.Name["name"].Name from its first word.
static bool parse_selector(struct parser *p, struct filter_term *term)
{
	if (p->word.kind != WORD_NAME)
		return expected(p, "the name of a member");
	if (!add_dotted(p, term, p->word.text, p->word.start) || !next(p))
		return false;
	while (is_word(p, WORD_SIGN, "[")) {
		if (!next(p))
			return false;
		if (p->word.kind != WORD_QUOTED)
			return expected(p, "a name in quotes");
		if (!add_part(p, term, text_of(p->word.text), p->word.start) || !next(p))
			return false;
		if (!is_word(p, WORD_SIGN, "]"))
			return expected(p, "\"]\"");
		if (!next(p))
			return false;
		if (p->word.kind == WORD_NAME && p->word.text[0] == '.' &&
			(!add_dotted(p, term, p->word.text + 1, p->word.start) || !next(p)))
			return false;
	}
	return true;
}

static bool parse_value(struct parser *p, struct filter_term *term)
{
	if (p->word.kind != WORD_NAME && p->word.kind != WORD_QUOTED)
		return expected(p, "a value");
	term->value = p->word.text;
	p->word.text = NULL;
	return next(p);
}

static bool parse_pattern(struct parser *p, struct filter_term *term)
{
	uint32_t at = p->word.start;
	struct constraint_error error;
	if (!parse_value(p, term))
		return false;
	term->program = regexp_compile(term->value, &error);
	return term->program || refuse_filter(p, at, "%.300s", error.text);
}

static bool parse_emptiness(struct parser *p, struct filter_term *term)
{
	term->kind = FILTER_EMPTY;
	term->negated = accept(p, "not");
	return accept(p, "empty") || expected(p, "\"empty\" or \"not empty\"");
}

// Parses the rest of a comparison, after its selector.
static bool parse_comparison(struct parser *p, struct filter_term *term)
{
	term->kind = FILTER_EQUAL;
	term->negated = is_word(p, WORD_SIGN, "!=");
	if (term->negated || is_word(p, WORD_SIGN, "=="))
		return next(p) && parse_value(p, term);
	if (accept(p, "is"))
		return parse_emptiness(p, term);
	term->negated = accept(p, "not");
	term->kind = FILTER_CONTAINS;
	if (accept(p, "contains"))
		return parse_value(p, term);
	term->kind = FILTER_MATCHES;
	if (accept(p, "matches"))
		return parse_pattern(p, term);
	return expected(p, term->negated ? "\"in\", \"contains\" or \"matches\""
					 : "==, !=, in, not, contains, is or matches");
}

// True when "in" or "not in" follows the word, which is then a value and not a selector.
static bool is_member_test(const struct parser *p)
{
	struct parser ahead = *p;
	char unused[FILTER_MESSAGE_BYTES] = "";
	ahead.message = unused;
	ahead.word.text = NULL;
	bool is = next(&ahead) && (!is_word(&ahead, WORD_NAME, "not") || next(&ahead)) &&
		  is_word(&ahead, WORD_NAME, "in");
	free(ahead.word.text);
	return is;
}

static uint32_t parse_test(struct parser *p)
{
	uint32_t number = term_add(p, FILTER_CONTAINS);
	if (number == NO_TERM)
		return NO_TERM;
	struct filter_term *term = &p->filter->terms[number];
	bool fine;
	if (is_member_test(p)) {
		fine = parse_value(p, term);
		term->negated = fine && accept(p, "not");
		fine = fine && accept(p, "in") && parse_selector(p, term);
	} else {
		fine = parse_selector(p, term) && parse_comparison(p, term);
	}
	return fine && !p->message[0] ? number : NO_TERM;
}

static uint32_t parse_any(struct parser *);

static uint32_t parse_group(struct parser *p)
{
	uint32_t inside = next(p) ? parse_any(p) : NO_TERM;
	if (inside == NO_TERM)
		return NO_TERM;
	if (!is_word(p, WORD_SIGN, ")")) {
		expected(p, "\")\", \"and\" or \"or\"");
		return NO_TERM;
	}
	return next(p) ? inside : NO_TERM;
}

static uint32_t parse_unary(struct parser *p);

static uint32_t parse_negation(struct parser *p)
{
	uint32_t inside = next(p) ? parse_unary(p) : NO_TERM;
	uint32_t number = inside == NO_TERM ? NO_TERM : term_add(p, FILTER_NOT);
	if (number != NO_TERM)
		p->filter->terms[number].left = inside;
	return number;
}

static uint32_t parse_unary(struct parser *p)
{
	if (p->depth == FILTER_DEPTH_MAX) {
		refuse_filter(p, p->word.start, "it is nested deeper than %u", FILTER_DEPTH_MAX);
		return NO_TERM;
	}
	p->depth++;
	uint32_t number = is_word(p, WORD_SIGN, "(")     ? parse_group(p)
			  : is_word(p, WORD_NAME, "not") ? parse_negation(p)
							 : parse_test(p);
	p->depth--;
	return number;
}

// Parses `one` once or several times, with the word in between.
static uint32_t parse_joined(
	struct parser *p, uint32_t (*one)(struct parser *), const char *word, enum filter_kind kind)
{
	uint32_t left = one(p);
	while (left != NO_TERM && accept(p, word)) {
		uint32_t right = one(p);
		uint32_t joined = right == NO_TERM ? NO_TERM : term_add(p, kind);
		if (joined == NO_TERM)
			return NO_TERM;
		p->filter->terms[joined].left = left;
		p->filter->terms[joined].right = right;
		left = joined;
	}
	return p->message[0] ? NO_TERM : left;
}

static uint32_t parse_all(struct parser *p)
{
	return parse_joined(p, parse_unary, "and", FILTER_AND);
}

static uint32_t parse_any(struct parser *p)
{
	return parse_joined(p, parse_all, "or", FILTER_OR);
}

struct filter *filter_parse(struct text text, char message[static FILTER_MESSAGE_BYTES])
{
	struct parser p = {.text = text, .message = message};
	message[0] = '\0';
	if (text.size > FILTER_BYTES_MAX) {
		refuse_filter(&p, FILTER_BYTES_MAX, "it is longer than %u bytes", FILTER_BYTES_MAX);
		return NULL;
	}
	p.filter = memory_take(sizeof *p.filter);
	p.filter->root = next(&p) ? parse_any(&p) : NO_TERM;
	if (p.filter->root != NO_TERM && p.word.kind != WORD_END)
		expected(&p, "\"and\", \"or\" or the end");
	free(p.word.text);
	if (!message[0])
		return p.filter;
	filter_free(p.filter);
	return NULL;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	for (uint32_t i = 0; i < filter->count; i++) {
		struct filter_term *term = &filter->terms[i];
		for (uint32_t part = 0; part < term->part_count; part++)
			free(term->parts[part]);
		free(term->value);
		if (term->program)
			regexp_release(term->program);
	}
	free(filter);
}
