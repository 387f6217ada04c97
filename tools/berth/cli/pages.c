#include "tools/berth/cli/pages.h"
#include "state/base/check.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_ITEMS 5000u

// *more: whether further items are wanted.
static enum exit_status take_page(const struct session *session, const struct http_answer *answer,
	pages_take *take, void *context, bool *more)
{
	json_error_t error;
	json_t *list = json_loadb(answer->body ? answer->body : "", answer->size, 0, &error);
	if (!json_is_array(list)) {
		json_decref(list);
		return complain(STATUS_FAILURE,
			"the controller's answer is no list; is %s a Berth controller of this "
			"version?",
			session->flags.values[FLAG_ADDRESS]);
	}
	for (size_t i = 0; i < json_array_size(list) && *more; i++)
		*more = take(json_array_get(list, i), context);
	json_decref(list);
	return STATUS_OK;
}

enum exit_status pages_until(
	struct session *session, const char *path, uint32_t page, pages_take *take, void *context)
{
	char token[512] = "", escaped[3 * sizeof token];
	bool more = true;
	do {
		char *one;
		struct http_answer answer;
		http_escape(token, escaped, sizeof escaped);
		CHECK(asprintf(&one, "%s%cper_page=%u%s%s", path, strchr(path, '?') ? '&' : '?',
			      page ? page : PAGE_ITEMS, *token ? "&next_token=" : "",
			      escaped) >= 0);
		enum exit_status result = http_get(session, one, &answer);
		if (result == STATUS_OK)
			result = take_page(session, &answer, take, context, &more);
		memcpy(token, answer.next_token, sizeof token);
		http_answer_free(&answer);
		free(one);
		if (result != STATUS_OK)
			return result;
	} while (*token && more);
	return STATUS_OK;
}

struct visit {
	pages_visit *each;
	void *context;
};

static bool visit_item(json_t *item, void *context)
{
	const struct visit *visit = context;
	visit->each(item, visit->context);
	return true;
}

enum exit_status pages_each(
	struct session *session, const char *path, pages_visit *each, void *context)
{
	struct visit visit = {each, context};
	return pages_until(session, path, 0, visit_item, &visit);
}

enum exit_status table_finish(struct table *table, enum exit_status status, uint32_t indent)
{
	if (status == STATUS_OK)
		table_print(table, indent);
	else
		table_free(table);
	return status;
}
