// Words and signs as the grammar wants them.
#pragma once
#include "tools/hcl2/tokens.h"

struct place {
	uint32_t from, to;
};

enum feed_context_kind {
	FEED_BODY,     // an item a line
	FEED_ONE_LINE, // a block with one argument
	FEED_GROUP,    // newlines mean nothing
	FEED_OBJECT,
	FEED_FOR,
	FEED_TEMPLATE,
};

struct feed_context {
	enum feed_context_kind kind;
	bool in_value;     // behind the "=" of an argument
	bool at_item;      // where an argument or a block begins
	uint32_t for_part; // how much of "for NAME, NAME in" was there
};

struct feed {
	struct hcl2_run *run;
	struct tokens tokens;
	uint32_t at;
	int start;          // START_FILE or START_EXPRESSION, then 0
	int previous[2];    // what was fed, the newest first
	bool newline_added; // before the end
	struct feed_context *contexts;
	uint32_t depth, room;
	bool failed;
	// results
	struct hcl2_body *file;
	const struct hcl2_node *expression;
	struct hcl2_node *condition; // of the for that is being read
};

union meaning;
int feed_next(struct feed *, union meaning *, struct place *);
void feed_unexpected(struct feed *, struct place, const char *const *expected, int count);
void feed_too_deep(struct feed *, struct place);
struct hcl2_range feed_range(const struct feed *, struct place);
