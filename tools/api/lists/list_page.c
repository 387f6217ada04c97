#include "tools/api/lists/list_page.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE_ITEMS_MAX 1000000u
// Records that one read section visits.
#define STEPS_PER_SECTION 256u

static bool number_read(const char *text, uint64_t most, uint64_t *number)
{
	char *end;
	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return !*end && errno == 0 && *number <= most;
}

bool page_size_read(const struct request *request, uint32_t *size, struct reply *reply)
{
	const char *text = request_parameter(request, "per_page");
	uint64_t number = 0;
	*size = 0;
	if (text && *text && !number_read(text, PAGE_ITEMS_MAX, &number)) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"per_page must be a number of at most %u, not \"%.32s\"", PAGE_ITEMS_MAX,
			text);
		return false;
	}
	*size = (uint32_t)number;
	return true;
}

struct walk {
	uint64_t cursor; // after the newest shown record
	uint32_t left;   // records that still fit the page
	bool more;       // another record follows the page
	bool over;
};

static void walk_section(struct walk *walk, cursor_step *step, void *context)
{
	uint64_t cursor = walk->cursor;
	state_read_begin();
	for (uint32_t i = 0; i < STEPS_PER_SECTION && !walk->over; i++) {
		bool shown = false;
		if (!step(context, &cursor, &shown)) {
			walk->over = true;
		} else if (shown && walk->left == 0) {
			walk->more = walk->over = true;
		} else {
			walk->left -= shown;
			walk->cursor = cursor;
		}
	}
	state_read_end();
}

bool cursor_page_find(const struct request *request, struct reply *reply, cursor_step *step,
	void *context, struct cursor_page *page)
{
	const char *token = request_parameter(request, "next_token");
	uint32_t size;
	if (!page_size_read(request, &size, reply))
		return false;
	if (token && *token && !number_read(token, UINT64_MAX, &page->start)) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"next_token must be the X-Nomad-NextToken of the page before");
		return false;
	}
	if (!size)
		return true;
	struct walk walk = {.cursor = page->start, .left = size};
	while (!walk.over)
		walk_section(&walk, step, context);
	page->end = walk.cursor;
	if (walk.more && asprintf(&reply->next_token, "%llu", (unsigned long long)walk.cursor) < 0)
		reply->next_token = NULL;
	return true;
}
