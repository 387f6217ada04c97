// ?per_page= and ?next_token= of lists.
#pragma once
#include "tools/api/server/request.h"

// 0 when none is asked for. False when it is malformed; the reply says so.
bool page_size_read(const struct request *, uint32_t *size, struct reply *);

// A page of a list in order of creation: the cursors at which it begins and where it ends.
struct cursor_page {
	uint64_t start, end;
};

// Moves the cursor to the next record and says whether the list shows it; false at the end. Under
// read lock.
typedef bool cursor_step(void *context, uint64_t *cursor, bool *shown);

// Finds the page asked for by walking over it, and the token of the next one. The page comes as the whole
// list. False when the parameters are malformed; the reply says so.
bool cursor_page_find(
	const struct request *, struct reply *, cursor_step *, void *context, struct cursor_page *);
