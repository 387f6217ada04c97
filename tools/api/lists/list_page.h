// ?per_page= and ?next_token= of lists.
#pragma once
#include "tools/api/server/request.h"

// 0 when the request asks for no pages. False with a reply when it is malformed.
bool page_size_read(const struct request *, uint32_t *size, struct reply *);

// A page of a list in order of creation, between two cursors.
struct cursor_page {
	uint64_t start, end;
};

// Moves the cursor to the next record and says whether the list shows it; false at the end. Under read lock.
typedef bool cursor_step(void *context, uint64_t *cursor, bool *shown);

// Finds the requested page by walking over it, and the next page's token. page holds the whole list at first. False
// with a reply when the parameters are malformed.
bool cursor_page_find(
	const struct request *, struct reply *, cursor_step *, void *context, struct cursor_page *);
