#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>
#include <string.h>

#define PAGE_ITEMS 5000u

static enum exit_status visit(const struct http_answer *answer, pages_visit *each, void *context)
{
	json_error_t error;
	json_t *list = json_loadb(answer->body ? answer->body : "", answer->size, 0, &error);
	if (!json_is_array(list)) {
		json_decref(list);
		return complain(STATUS_FAILURE, "the controller's answer is no list; is it a Berth "
						"controller of this version?");
	}
	size_t i;
	json_t *item;
	json_array_foreach(list, i, item) each(item, context);
	json_decref(list);
	return STATUS_OK;
}

enum exit_status pages_each(
	struct session *session, const char *path, pages_visit *each, void *context)
{
	char token[512] = "";
	do {
		char page[3 * HTTP_PATH_BYTES], escaped[3 * sizeof token];
		struct http_answer answer;
		http_escape(token, escaped, sizeof escaped);
		snprintf(page, sizeof page, "%s%cper_page=%u%s%s", path,
			strchr(path, '?') ? '&' : '?', PAGE_ITEMS, *token ? "&next_token=" : "",
			escaped);
		enum exit_status result = http_get(session, page, &answer);
		if (result == STATUS_OK)
			result = visit(&answer, each, context);
		memcpy(token, answer.next_token, sizeof token);
		http_answer_free(&answer);
		if (result != STATUS_OK)
			return result;
	} while (*token);
	return STATUS_OK;
}

enum exit_status table_finish(struct table *table, enum exit_status status, uint32_t indent)
{
	if (status == STATUS_OK)
		table_print(table, indent);
	else
		table_free(table);
	return status;
}
