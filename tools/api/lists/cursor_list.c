#include "tools/api/lists/cursor_list.h"
#include "state/base/memory.h"
#include "tools/api/lists/list_page.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include <stdlib.h>

// Records that one read section of a list visits.
#define RECORDS_PER_SECTION 128u
#define KEYS_PER_SECTION 1024u

// Number of keys below the cursor.
static uint32_t keys_below(const struct cursor_list *list, uint64_t cursor)
{
	uint32_t low = 0, high = list->key_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (list->keys[middle] < cursor)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Moves the cursor to the newest record below it.
static const void *previous(const struct cursor_list *list, uint64_t *cursor)
{
	for (uint32_t at = keys_below(list, *cursor); at > 0; at--) {
		uint64_t key = list->keys[at - 1], after = key;
		const void *record = list->kind->next(list->state, &after);
		*cursor = key;
		if (record && after == key + 1)
			return record;
	}
	return NULL;
}

static const void *next_record(const struct cursor_list *list, uint64_t *cursor)
{
	return list->reverse ? previous(list, cursor) : list->kind->next(list->state, cursor);
}

static bool is_over(const struct cursor_list *list)
{
	return list->reverse ? list->cursor <= list->end : list->cursor >= list->end;
}

static void add_key(struct cursor_list *list, uint64_t key)
{
	if (list->key_count == list->key_capacity) {
		list->key_capacity = list->key_capacity ? list->key_capacity * 2 : 256;
		list->keys = memory_resize(
			list->keys, (size_t)list->key_capacity * sizeof list->keys[0]);
	}
	list->keys[list->key_count++] = key;
}

// Cursors only lead forward: collects the keys of records that may be shown, to walk them backwards.
static void collect_keys(struct cursor_list *list)
{
	uint64_t cursor = 0;
	const void *record;
	do {
		state_read_begin();
		for (uint32_t i = 0; i < KEYS_PER_SECTION; i++) {
			record = list->kind->next(list->state, &cursor);
			if (!record)
				break;
			if (list->kind->is_wanted(list, record))
				add_key(list, cursor - 1);
		}
		state_read_end();
	} while (record);
}

static void write_for_filter(void *context, const void *record, bool whole, struct json_writer *w)
{
	const struct cursor_list *list = context;
	if (whole && list->kind->write_whole)
		list->kind->write_whole(w, list, record);
	else
		list->kind->write(w, list, record);
}

static bool is_shown(struct cursor_list *list, const void *record)
{
	return list->kind->is_wanted(list, record) &&
	       list_filter_fits(&list->filter, write_for_filter, list, record);
}

// Learns from any one record which names a filter may use.
static bool learn_names(struct cursor_list *list, struct reply *reply)
{
	uint64_t cursor = 0;
	state_read_begin();
	const void *any = list->kind->next(list->state, &cursor);
	bool fine = !any || list_filter_learn(&list->filter, list->kind->type, write_for_filter,
				    list, any, reply);
	state_read_end();
	return fine;
}

static bool produce_records(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct cursor_list *list = context;
	const void *record = NULL;
	state_read_begin();
	for (uint32_t i = 0; i < RECORDS_PER_SECTION && w->size < bytes_wanted; i++) {
		record = is_over(list) ? NULL : next_record(list, &list->cursor);
		if (!record)
			break;
		if (is_shown(list, record))
			list->kind->write(w, list, record);
	}
	state_read_end();
	return record != NULL;
}

static bool step_record(void *context, uint64_t *cursor, bool *shown)
{
	struct cursor_list *list = context;
	const void *record = next_record(list, cursor);
	*shown = record && is_shown(list, record);
	return record != NULL;
}

static void free_list(void *context)
{
	struct cursor_list *list = context;
	free(list->name_prefix);
	free(list->namespace_name);
	free(list->status);
	free(list->job);
	free(list->worker);
	free(list->path_name);
	free(list->keys);
	list_filter_free(&list->filter);
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

bool cursor_list_wants(const struct cursor_list *list, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id)
{
	return id_prefix_fits(&list->id_prefix, id) &&
	       cursor_list_has_namespace(list, namespace_name) &&
	       (!*list->status || strcmp(list->status, status) == 0) &&
	       (!*list->job || strcmp(list->job, job_id) == 0);
}

static struct cursor_list *list_create(
	const struct request *request, const struct cursor_kind *kind)
{
	struct cursor_list *list = memory_take(sizeof *list);
	list->kind = kind;
	list->api = request->api;
	list->state = request->api->settings.state;
	list->name_prefix = copy_of(request, "prefix");
	list->namespace_name = text_copy(text_of(request_namespace(request)));
	list->path_name = text_copy(text_of(request->ids[0]));
	list->status = copy_of(request, "status");
	list->job = copy_of(request, "job");
	if (request_parameter(request, "worker"))
		list->worker = copy_of(request, "worker");
	list->resources = request_flag(request, "resources");
	list->meta = request_flag(request, "meta");
	list->reverse = request_flag(request, "reverse");
	return list;
}

// Checks everything in the request that can be wrong. False with a reply.
static bool prepare_list(
	struct cursor_list *list, const struct request *request, struct reply *reply)
{
	const struct cursor_kind *kind = list->kind;
	if (kind->noun && !id_prefix_read(request, kind->noun, &list->id_prefix, reply))
		return false;
	return kind->has_no_filter ||
	       (list_filter_read(request, &list->filter, reply) && learn_names(list, reply));
}

static bool find_page(struct cursor_list *list, const struct request *request, struct reply *reply)
{
	struct cursor_page page = {0, UINT64_MAX};
	if (list->reverse) {
		page = (struct cursor_page){UINT64_MAX, 0};
		collect_keys(list);
	}
	if (!cursor_page_find(request, reply, step_record, list, &page))
		return false;
	list->cursor = page.start;
	list->end = page.end;
	return true;
}

void cursor_list_answer(
	struct request *request, struct reply *reply, const struct cursor_kind *kind)
{
	if (!kind->has_no_filter && list_filter_defers(request, reply, false))
		return;
	bool is_walked = request_flag(request, "reverse") || request_parameter(request, "per_page");
	if (is_walked && list_begins_in_background(request, reply, request->route->answer))
		return;
	struct cursor_list *list = list_create(request, kind);
	reply_index(reply, list_index(request));
	if (prepare_list(list, request, reply) && find_page(list, request, reply)) {
		reply_stream(request, reply, list, produce_records, free_list);
	} else {
		reply->has_index = false;
		free_list(list);
	}
}

bool cursor_list_count(struct request *request, struct reply *reply, const struct cursor_kind *kind,
	uint64_t *count)
{
	*count = 0;
	if (list_filter_defers(request, reply, true))
		return false;
	struct cursor_list *list = list_create(request, kind);
	bool fine = prepare_list(list, request, reply), more = fine;
	list->reverse = false; // a count does not depend on it
	while (more) {
		state_read_begin();
		for (uint32_t i = 0; i < RECORDS_PER_SECTION && more; i++) {
			bool shown = false;
			more = step_record(list, &list->cursor, &shown);
			*count += shown;
		}
		state_read_end();
	}
	free_list(list);
	return fine;
}
