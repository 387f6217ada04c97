// From bytes to words and signs. Inside of a string, and between the marks of a text of several lines, the rules are
// others than outside; "${" leads out again and its "}" back.
#include "tools/hcl2/grammar.h"
#include "tools/hcl2/tokens.h"

enum mode_kind { MODE_MAIN, MODE_STRING, MODE_LINES };

struct mode {
	enum mode_kind kind;
	uint32_t braces;    // open in this one
	struct text marker; // that ends lines
	bool at_line_start;
};

struct scan {
	struct tokens *tokens;
	const unsigned char *begin, *end, *at;
	struct mode modes[HCL2_DEPTH_MAX];
	uint32_t depth;
};

/*!include:re2c "unicode_categories.re" */
/*!re2c
	re2c:define:YYCTYPE = "unsigned char";
	re2c:define:YYCURSOR = s->at;
	re2c:define:YYMARKER = marker;
	re2c:define:YYLIMIT = s->end;
	re2c:yyfill:enable = 0;
	re2c:eof = 0;

	digit = [0-9];
	number_part = digit | [eE] [+-]? digit;
	number = digit ((number_part | ".")* number_part)?;
	ident = (L | Nl | "_") (L | Nl | Mn | Mc | Nd | Pc | "-")*;
	newline = "\r"? "\n";
	escaped_opening = ("$${" | "%%{") "~"?;
*/

static void add(struct scan *s, int kind, const unsigned char *from)
{
	tokens_add(s->tokens, kind, (uint32_t)(from - s->begin), (uint32_t)(s->at - s->begin));
}

static struct token *last_token(struct scan *s)
{
	return &s->tokens->rows[s->tokens->count - 1];
}

static bool enter(struct scan *s, enum mode_kind kind)
{
	if (s->depth + 1 == HCL2_DEPTH_MAX)
		return hcl2_mistake(s->tokens->run, token_range(s->tokens, last_token(s)),
			"Templates are nested too deep here.");
	s->modes[++s->depth] = (struct mode){.kind = kind, .at_line_start = true};
	return true;
}

static bool enter_lines(struct scan *s)
{
	struct token *opening = last_token(s);
	const char *text = s->tokens->source->text.data;
	uint32_t from = opening->from + 2, to = opening->to - 1;
	opening->flush = text[from] == '-';
	from += opening->flush;
	to -= text[to - 1] == '\r';
	if (!enter(s, MODE_LINES))
		return false;
	s->modes[s->depth].marker = (struct text){text + from, to - from};
	return true;
}

static bool enter_sequence(struct scan *s, int kind, const unsigned char *from)
{
	add(s, kind, from);
	last_token(s)->trims = s->at - from == 3;
	s->modes[s->depth].at_line_start = false;
	return enter(s, MODE_MAIN);
}

static void close_brace(struct scan *s, const unsigned char *from)
{
	struct mode *mode = &s->modes[s->depth];
	bool trims = *from == '~', ends = s->depth > 0 && mode->braces == 0;
	add(s, ends || trims ? T_SEQUENCE_END : T_CLOSE_BRACE, from);
	last_token(s)->trims = trims;
	if (ends)
		s->depth--;
	else if (mode->braces > 0)
		mode->braces--;
}

// A comment up to the end of its line stands for that end.
static void line_comment(struct scan *s, const unsigned char *from)
{
	if (s->at == s->end)
		return;
	s->at++;
	add(s, T_NEWLINE, from);
}

static void block_comment(struct scan *s, const unsigned char *from)
{
	const unsigned char *end = memmem(s->at, (size_t)(s->end - s->at), "*/", 2);
	if (end) {
		s->at = end + 2;
		return;
	}
	s->at = s->end;
	add(s, SCANNED_OPEN_COMMENT, from);
}

static bool scan_main(struct scan *s)
{
	const unsigned char *from = s->at, *marker;
	/*!re2c
		$ { return true; }
		[ \t]+ { return true; }
		number { add(s, T_NUMBER, from); return true; }
		ident { add(s, T_NAME, from); return true; }
		("#" | "//") [^\n]* { line_comment(s, from); return true; }
		"/" "*" { block_comment(s, from); return true; }
		newline { add(s, T_NEWLINE, from); return true; }
		"==" { add(s, T_EQUAL, from); return true; }
		"!=" { add(s, T_NOT_EQUAL, from); return true; }
		">=" { add(s, T_AT_LEAST, from); return true; }
		"<=" { add(s, T_AT_MOST, from); return true; }
		"&&" { add(s, T_AND, from); return true; }
		"||" { add(s, T_OR, from); return true; }
		"..." { add(s, T_ELLIPSIS, from); return true; }
		"=>" { add(s, T_ARROW, from); return true; }
		"{" { add(s, SCANNED_BRACE, from); s->modes[s->depth].braces++; return true; }
		"}" | "~}" { close_brace(s, from); return true; }
		["] { add(s, T_OPEN_QUOTE, from); return enter(s, MODE_STRING); }
		"<<" "-"? ident newline { add(s, T_OPEN_LINES, from); return enter_lines(s); }
		[[\]().,*/%+=<>!?:-] { add(s, *from, from); return true; }
		[&|~^] { add(s, SCANNED_BAD_OPERATOR, from); return true; }
		[^] { add(s, SCANNED_BAD_CHARACTER, from); return true; }
		* { add(s, SCANNED_BAD_TEXT, from); return true; }
	*/
}

static bool scan_string(struct scan *s)
{
	const unsigned char *from = s->at, *marker;
	/*!re2c
		$ { return true; }
		"${" "~"? { return enter_sequence(s, T_INTERPOLATION, from); }
		"%{" "~"? { return enter_sequence(s, T_CONTROL, from); }
		["] { add(s, T_CLOSE_QUOTE, from); s->depth--; return true; }
		escaped_opening | [$%] { add(s, T_TEXT, from); return true; }
		("\\" [^\r\n] | [^$%"\\\r\n])+ { add(s, T_TEXT, from); return true; }
		[\r\n]+ { add(s, SCANNED_BAD_NEWLINE, from); return true; }
		[^] { add(s, SCANNED_BAD_CHARACTER, from); return true; }
		* { add(s, SCANNED_BAD_TEXT, from); return true; }
	*/
}

// The line may be the mark that ends the text; what follows the mark is a token of its own.
static void end_line(struct scan *s, const unsigned char *from)
{
	struct mode *mode = &s->modes[s->depth];
	struct text line = {(const char *)from, (uint32_t)(s->at - from)};
	uint32_t newline = line.size > 1 && line.data[line.size - 2] == '\r' ? 2 : 1;
	struct text word = {line.data, line.size - newline};
	while (word.size && (*word.data == ' ' || *word.data == '\t'))
		word.data++, word.size--;
	while (word.size && (word.data[word.size - 1] == ' ' || word.data[word.size - 1] == '\t'))
		word.size--;
	if (!mode->at_line_start || !text_equal(word, mode->marker)) {
		add(s, T_TEXT, from);
		mode->at_line_start = true;
		return;
	}
	const unsigned char *end = s->at;
	s->at -= newline;
	add(s, T_CLOSE_LINES, from);
	s->at = end;
	add(s, T_NEWLINE, end - newline);
	s->depth--;
}

static bool scan_lines(struct scan *s)
{
	const unsigned char *from = s->at, *marker;
	/*!re2c
		$ { return true; }
		"${" "~"? { return enter_sequence(s, T_INTERPOLATION, from); }
		"%{" "~"? { return enter_sequence(s, T_CONTROL, from); }
		(escaped_opening | [$%] | [^$%\r\n]*) newline { end_line(s, from); return true; }
		escaped_opening | [$%] | [^$%\r\n]+ {
			add(s, T_TEXT, from);
			s->modes[s->depth].at_line_start = false;
			return true;
		}
		[^] { add(s, SCANNED_BAD_CHARACTER, from); return true; }
		* { add(s, SCANNED_BAD_TEXT, from); return true; }
	*/
}

static bool scan_one(struct scan *s)
{
	switch (s->modes[s->depth].kind) {
	case MODE_STRING: return scan_string(s);
	case MODE_LINES: return scan_lines(s);
	default: return scan_main(s);
	}
}

bool tokens_scan(struct tokens *tokens)
{
	struct text text = tokens->source->text;
	struct scan *s = hcl2_take(tokens->run, sizeof *s);
	s->tokens = tokens;
	s->begin = s->at = (const unsigned char *)text.data;
	s->end = s->begin + text.size;
	if (text.size >= 3 && !memcmp(text.data, "\xef\xbb\xbf", 3))
		s->at += 3;
	while (s->at < s->end)
		if (!scan_one(s))
			return false;
	add(s, 0, s->end);
	return true;
}
