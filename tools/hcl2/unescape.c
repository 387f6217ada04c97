// What the texts of templates mean: escapes, blanks that "~" takes away, the indentation of lines.
#include "state/base/check.h"
#include "tools/hcl2/grammar.h"
#include "tools/hcl2/tokens.h"
#include "tools/hcl2/values.h"
#include <glib.h>

// A template that is open.
struct frame {
	uint32_t opening;
	bool trim_next;  // the text that follows, from its left
	bool after_text; // the last part was one
};

static uint32_t blanks_left(struct text text)
{
	uint32_t bytes = 0;
	while (bytes < text.size &&
		g_unichar_isspace(g_utf8_get_char_validated(text.data + bytes, text.size - bytes)))
		bytes += text_utf8_bytes((struct text){text.data + bytes, text.size - bytes});
	return bytes;
}

static uint32_t size_without_blanks(struct text text)
{
	uint32_t kept = 0;
	for (uint32_t i = 0, bytes; i < text.size; i += bytes) {
		gunichar c = g_utf8_get_char_validated(text.data + i, text.size - i);
		bytes = text_utf8_bytes((struct text){text.data + i, text.size - i});
		bytes += !bytes;
		if (!g_unichar_isspace(c))
			kept = i + bytes;
	}
	return kept;
}

static bool unicode_escape(struct writer *w, struct text rest, uint32_t digits)
{
	char utf8[8] = "";
	gunichar c = 0;
	if (rest.size < 2 + digits)
		return false;
	for (uint32_t i = 0; i < digits; i++) {
		int digit = g_ascii_xdigit_value(rest.data[2 + i]);
		if (digit < 0 || c > 0xfffffff)
			return false;
		c = c * 16 + (gunichar)digit;
	}
	if (!g_unichar_validate(c))
		return false;
	write_text(w, (struct text){utf8, (uint32_t)g_unichar_to_utf8(c, utf8)});
	return true;
}

// Writes what an escape means. Its bytes; 0: it is none.
static uint32_t write_escape(struct writer *w, struct text rest)
{
	static const char letters[] = "nrt\"\\", meant[] = "\n\r\t\"\\";
	const char *letter = rest.size > 1 ? strchr(letters, rest.data[1]) : NULL;
	if (letter && *letter) {
		write_char(w, meant[letter - letters]);
		return 2;
	}
	uint32_t digits = rest.size < 2 ? 0 : rest.data[1] == 'u' ? 4 : rest.data[1] == 'U' ? 8 : 0;
	return digits && unicode_escape(w, rest, digits) ? 2 + digits : 0;
}

static bool unescape_quoted(struct tokens *tokens, struct token *token)
{
	struct writer w = {.run = tokens->run};
	bool fine = true;
	for (uint32_t i = 0, bytes; i < token->text.size; i += bytes) {
		struct text rest = {token->text.data + i, token->text.size - i};
		if (*rest.data != '\\') {
			write_char(&w, *rest.data);
			bytes = 1;
			continue;
		}
		bytes = write_escape(&w, rest);
		if (bytes)
			continue;
		struct hcl2_range at = token_range(tokens, token);
		at.from += i;
		at.to = at.from + 1 + (rest.size > 1);
		fine = hcl2_mistake(tokens->run, at,
			"Invalid escape sequence: after a backslash comes one of n r t \" \\ or "
			"uNNNN "
			"or UNNNNNNNN in hexadecimal digits.");
		bytes = rest.size > 1 ? 2 : 1;
	}
	CHECK(!w.overflow); // an escape is longer than what it stands for
	token->text = writer_text(&w);
	return fine;
}

static bool unescape_text(struct tokens *tokens, struct frame *frame, uint32_t at)
{
	struct token *token = &tokens->rows[at];
	bool fine = true;
	if (token->text.size >= 3 && token->text.data[1] == *token->text.data &&
		token->text.data[2] == '{' && strchr("$%", *token->text.data))
		token->text.data++, token->text.size--;
	else if (tokens->rows[frame->opening].kind == T_OPEN_QUOTE &&
		 memchr(token->text.data, '\\', token->text.size))
		fine = unescape_quoted(tokens, token);
	if (frame->trim_next) {
		uint32_t blanks = blanks_left(token->text);
		token->text.data += blanks;
		token->text.size -= blanks;
	}
	frame->trim_next = false;
	frame->after_text = true;
	return fine;
}

static bool is_sequence(int kind)
{
	return kind == T_INTERPOLATION || kind == T_CONTROL;
}

static uint32_t skip_sequence(const struct tokens *tokens, uint32_t at, uint32_t end)
{
	uint32_t nested = 0;
	for (; at < end; at++) {
		if (is_sequence(tokens->rows[at].kind))
			nested++;
		if (tokens->rows[at].kind == T_SEQUENCE_END && --nested == 0)
			break;
	}
	return at;
}

static bool is_blank_line(struct text text)
{
	return blanks_left(text) == text.size && text.size && text.data[text.size - 1] == '\n';
}

// Visits what begins lines. With `cut` it takes that many characters away, else it returns the fewest blanks of them.
static uint32_t flush_pass(struct tokens *tokens, uint32_t opening, uint32_t closing, uint32_t cut)
{
	uint32_t least = UINT32_MAX;
	bool line_begins = true;
	for (uint32_t i = opening + 1; i < closing; i++) {
		struct token *token = &tokens->rows[i];
		bool begins = line_begins;
		struct text *text = &token->text;
		if (token->kind != T_TEXT) {
			if (begins)
				least = 0;
			line_begins = false;
			i = skip_sequence(tokens, i, closing);
			continue;
		}
		line_begins = text->size && text->data[text->size - 1] == '\n';
		if (!begins || is_blank_line(*text))
			continue;
		uint32_t blanks = grapheme_count((struct text){text->data, blanks_left(*text)});
		least = blanks < least ? blanks : least;
		for (uint32_t n = 0; n < cut; n++) {
			uint32_t bytes = grapheme_bytes(*text);
			text->data += bytes;
			text->size -= bytes;
		}
	}
	return least;
}

static void flush(struct tokens *tokens, uint32_t opening, uint32_t closing)
{
	uint32_t least = flush_pass(tokens, opening, closing, 0);
	if (least > 0 && least != UINT32_MAX)
		flush_pass(tokens, opening, closing, least);
}

static void begin_sequence(struct tokens *tokens, struct frame *frame, uint32_t at)
{
	struct token *previous = &tokens->rows[at - 1];
	if (frame->after_text && tokens->rows[at].trims && previous->kind == T_TEXT)
		previous->text.size = size_without_blanks(previous->text);
	frame->after_text = frame->trim_next = false;
}

bool tokens_unescape(struct tokens *tokens)
{
	struct frame *frames = hcl2_take(tokens->run, (HCL2_DEPTH_MAX + 1) * sizeof *frames);
	uint32_t depth = 0;
	bool fine = true;
	for (uint32_t i = 0; i < tokens->count; i++) {
		struct frame *frame = &frames[depth];
		switch (tokens->rows[i].kind) {
		case T_OPEN_QUOTE:
		case T_OPEN_LINES:
			CHECK(depth < HCL2_DEPTH_MAX);
			frames[++depth] = (struct frame){.opening = i};
			break;
		case T_TEXT: fine &= unescape_text(tokens, frame, i); break;
		case T_INTERPOLATION:
		case T_CONTROL: begin_sequence(tokens, frame, i); break;
		case T_SEQUENCE_END: frame->trim_next = tokens->rows[i].trims; break;
		case T_CLOSE_QUOTE:
		case T_CLOSE_LINES:
			if (tokens->rows[frame->opening].flush)
				flush(tokens, frame->opening, i);
			depth--;
			break;
		default: break;
		}
	}
	return fine;
}
