#include "tools/api/cursor_list.h"
#include "state/base/memory.h"
#include "tools/api/list_page.h"
#include "tools/api/list_stream.h"
#include <stdlib.h>

// Records looked at in one read section of a list.
#define RECORDS_PER_SECTION 128u

static bool produce(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct cursor_list *list = context;
	const void *record = NULL;
	state_read_begin();
	for (uint32_t i = 0; i < RECORDS_PER_SECTION && w->size < bytes_wanted; i++) {
		record = list->cursor < list->end ? list->kind->next(list->state, &list->cursor)
						  : NULL;
		if (!record)
			break;
		if (list->kind->is_wanted(list, record))
			list->kind->write(w, list, record);
	}
	state_read_end();
	return record != NULL;
}

static bool step(void *context, uint64_t *cursor, bool *shown)
{
	const struct cursor_list *list = context;
	const void *record = list->kind->next(list->state, cursor);
	*shown = record && list->kind->is_wanted(list, record);
	return record != NULL;
}

static void free_list(void *context)
{
	struct cursor_list *list = context;
	free(list->name_prefix);
	free(list->namespace_name);
	free(list->status);
	free(list->job);
	free(list);
}

static char *copy_of(const struct request *request, const char *name)
{
	return text_copy(text_of(request_parameter(request, name)));
}

bool cursor_list_has_namespace(const struct cursor_list *list, const char *namespace_name)
{
	return strcmp(list->namespace_name, "*") == 0 ||
	       strcmp(list->namespace_name, namespace_name) == 0;
}

void cursor_list_answer(
	struct request *request, struct reply *reply, const struct cursor_kind *kind)
{
	struct id_prefix id_prefix = {0};
	if (kind->noun && !id_prefix_read(request, kind->noun, &id_prefix, reply))
		return;
	struct cursor_list *list = memory_take(sizeof *list);
	list->kind = kind;
	list->state = request->api->settings.state;
	list->id_prefix = id_prefix;
	list->name_prefix = copy_of(request, "prefix");
	list->namespace_name = text_copy(text_of(request_namespace(request)));
	list->status = copy_of(request, "status");
	list->job = copy_of(request, "job");
	list->resources = request_flag(request, "resources");
	reply_index(reply, state_index(list->state));
	struct cursor_page page;
	if (!cursor_page_find(request, reply, step, list, &page)) {
		free_list(list);
		return;
	}
	list->cursor = page.start;
	list->end = page.end;
	reply_stream(request, reply, list, produce, free_list);
}
