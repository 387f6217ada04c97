// Tokens of a template's actions, and the texts between them.
#pragma once
#include "tools/template/nodes.h"

enum token_kind {
	TOKEN_END,      // of the action
	TOKEN_NAME,     // of a function, or a keyword
	TOKEN_FIELD,    // .name, without the dot
	TOKEN_DOT,      // alone
	TOKEN_VARIABLE, // $name; $ alone is an empty name
	TOKEN_CONSTANT,
	TOKEN_PIPE,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_DECLARE,
	TOKEN_ASSIGN,
};

struct token {
	enum token_kind kind;
	uint32_t at;
	bool after_space;
	struct text text;
	struct value value; // of a constant
};

struct scanner {
	struct arena *memory; // of decoded texts
	struct template_trouble *trouble;
	struct text text, left, right; // delimiters
	uint32_t at;
	bool failed;
	bool trims; // the text that comes next, at its beginning
};

enum scanned { SCANNED_LAST, SCANNED_BEFORE_ACTION, SCANNED_BEFORE_COMMENT };
// The next text, and what comes behind it: the end, an action, or a comment, which is skipped.
enum scanned scan_text(struct scanner *, struct text *);
// The next token of the action.
struct token scan_token(struct scanner *);
// Fails the scanner, unless it has failed already.
void scan_fail(struct scanner *, uint32_t at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
