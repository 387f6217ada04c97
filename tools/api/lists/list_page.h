// Parameters of lists: ?per_page=, ?next_token=, and ?prefix= of lists of UUIDs.
#pragma once
#include "tools/api/lists/record_walk.h"
#include "tools/api/server/request.h"

// 0 when the request asks for no pages. False with a reply when it is malformed.
bool page_size_read(const struct request *, uint32_t *size, struct reply *);
// The place of the page's first record, which stays as it is without a token. False with a reply when it is malformed.
bool page_start_read(const struct request *, bool by_id, struct record_place *, struct reply *);
// The token of a page that begins there. Caller frees.
char *page_token(bool by_id, const struct record_place *);

struct id_prefix {
	char digits[UUID_TEXT_BYTES]; // lower case
	uint32_t size;
};
// False with a reply when it is no prefix of a UUID. what: "node", "alloc".
bool id_prefix_read(const struct request *, const char *what, struct id_prefix *, struct reply *);
bool id_prefix_fits(const struct id_prefix *, const struct uuid *);
