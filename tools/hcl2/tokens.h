// The words and signs of a text, all of them before the grammar looks at them.
#pragma once
#include "tools/hcl2/hcl2.h"
#include "tools/hcl2/syntax.h"

// What only the scanner tells apart; the others are the grammar's. Numbers are beyond its.
enum scanned {
	SCANNED_BAD_TEXT = 10000, // no UTF-8
	SCANNED_BAD_CHARACTER,
	SCANNED_BAD_OPERATOR,
	SCANNED_BAD_NEWLINE, // in a quoted string
	SCANNED_OPEN_COMMENT,
	SCANNED_BRACE, // "{", of a block or of an object
};

struct token {
	int kind;
	uint32_t from, to;
	struct text text; // of literals: what they mean; of names: themselves
	bool trims;       // a bracket of a template with "~"
	bool flush;       // an opening of lines whose common indentation is not part of them
};

struct tokens {
	struct hcl2_run *run;
	const struct hcl2_source *source;
	struct token *rows; // the last one is the end of the text
	uint32_t count, room;
};

// False after mistakes.
bool tokens_scan(struct tokens *);
// Gives literals their meaning: escapes, trimmed blanks, indentation. False after a mistake.
bool tokens_unescape(struct tokens *);
struct hcl2_range token_range(const struct tokens *, const struct token *);
void tokens_add(struct tokens *, int kind, uint32_t from, uint32_t to);
