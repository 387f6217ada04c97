// The words and signs of a configuration text, one after the other.
#pragma once
#include "state/base/arena/arena.h"
#include "state/base/text.h"
#include "tools/hcl/hcl.h"

enum hcl_token_kind {
	HCL_TOKEN_END,
	HCL_TOKEN_WORD,   // a bare word: a name, true, false, null
	HCL_TOKEN_STRING, // quoted, or of several lines
	HCL_TOKEN_NUMBER,
	HCL_TOKEN_SIGN, // one of { } [ ] = : ,
	HCL_TOKEN_MISTAKE,
};

struct hcl_token {
	enum hcl_token_kind kind;
	uint32_t line, column;
	char sign;
	const char *text; // of words and strings, without escapes
	double number;
};

struct hcl_tokens {
	struct text rest; // what is not read yet
	uint32_t line, column;
	struct arena *memory;
	struct hcl_error *error;
};

struct hcl_token hcl_token_next(struct hcl_tokens *);

// Says what is wrong, where. Returns false.
bool hcl_mistake(struct hcl_error *, uint32_t line, uint32_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
// The next character: goes on by one, or by the bytes of one that is longer.
void hcl_advance(struct hcl_tokens *, uint32_t bytes);
// Each begins at the text's first sign. NULL after a mistake.
const char *hcl_quoted_text(struct hcl_tokens *);
const char *hcl_lines_text(struct hcl_tokens *);
