// Addresses of Nomad's web page, which its command line tells (`nomad ui web`) and bookmarks have: they lead to the
// page that shows the same here.
#include "state/base/memory.h"
#include "tools/api/server/request.h"
#include "tools/api/ui/page.h"
#include "tools/api/ui/routes.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What stands there for a page without more behind it, and for one thing.
static const struct {
	const char *name, *list, *one;
} pages_of_nomad[] = {
	{"jobs", "jobs", "job"},
	{"allocations", "jobs", "allocation"},
	{"clients", "nodes", "node"},
	{"evaluations", "jobs", "evaluation"},
	{"servers", "controller", NULL},
	{"settings", "login", NULL},
	{"topology", "fleet", NULL},
};

struct lead {
	struct reply_header header;
	char location[]; // "/ui/#/job/default/web"
};

// As a part of the address behind "#" is written; returns behind it.
static char *put_part(char *at, const char *text, size_t size)
{
	static const char digits[] = "0123456789ABCDEF";
	*at++ = '/';
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		bool is_plain = isalnum(c) || strchr("-_.~", c);
		if (!is_plain) {
			*at++ = '%';
			*at++ = digits[c >> 4];
		}
		*at++ = is_plain ? (char)c : digits[c & 15];
	}
	*at = '\0';
	return at;
}

// Jobs are named by their namespace, too: of "web@team", of the query, or the default one. What has an id that cannot
// have a slash has pages of its own below it there.
static void put_one(char *at, const struct request *request, const char *page, const char *id)
{
	const char *mark = strrchr(id, '@');
	const char *namespace_name = mark ? mark + 1 : request_namespace(request);
	bool is_job = strcmp(page, "job") == 0;
	if (is_job)
		at = put_part(at, namespace_name, strlen(namespace_name));
	put_part(at, id, is_job ? (mark ? (size_t)(mark - id) : strlen(id)) : strcspn(id, "/"));
}

static void lead_to(struct request *request, struct reply *reply, const char *page, const char *id)
{
	size_t bytes = 3 * (strlen(id) + strlen(request_namespace(request))) + strlen(page) + 16;
	struct lead *lead = memory_take(sizeof *lead + bytes);
	size_t size = (size_t)snprintf(lead->location, bytes, "/ui/#/%s", page);
	if (*id)
		put_one(lead->location + size, request, page, id);
	lead->header = (struct reply_header){MHD_HTTP_HEADER_LOCATION, lead->location};
	request->context = lead;
	request->context_free = free;
	reply->status = MHD_HTTP_TEMPORARY_REDIRECT;
	reply->headers = &lead->header;
	reply->header_count = 1;
}

bool address_of_nomad(
	struct request *request, struct reply *reply, const char *name, const char *id)
{
	for (size_t i = 0; i < sizeof pages_of_nomad / sizeof pages_of_nomad[0]; i++) {
		if (strcmp(pages_of_nomad[i].name, name) != 0)
			continue;
		bool is_one = *id && pages_of_nomad[i].one;
		lead_to(request, reply, is_one ? pages_of_nomad[i].one : pages_of_nomad[i].list,
			is_one ? id : "");
		return true;
	}
	return false;
}

void page_lead_below(struct request *request, struct reply *reply)
{
	char name[32];
	const char *begin = request->route->pattern + strlen("/ui/");
	snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, "/"), begin);
	if (!page_is_off(request, reply))
		(void)address_of_nomad(request, reply, name, request->ids[0]);
}
