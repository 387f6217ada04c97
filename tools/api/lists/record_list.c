#include "tools/api/lists/record_list.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/id_order.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include "tools/json/json_record.h"
#include <stdlib.h>

// Records that one read section visits, and one that has to filter them.
#define RECORDS_PER_SECTION 64u
#define FILTERED_PER_SECTION 16u
// Records that a filter looks at within a few milliseconds.
#define FILTERED_AT_ONCE 512u
// Chosen records whose ids or keys are kept; of more, the whole table is walked.
#define CHOSEN_MAX RECORDS_VISITED_AT_ONCE
// So many records of a prefix are found by their ids. Of more, one in a few hundred has the prefix, in a table of
// millions.
#define PREFIX_MAX 4096u
// Text of a page that is written while the page is looked for.
#define PAGE_TEXT_BYTES (16u * 1024)

static void write_record(struct json_writer *w, const struct record_list *list, const void *record)
{
	if (list->kind->write)
		list->kind->write(w, list, record);
	else
		json_record(w, list->kind->type, record);
}

static void write_for_filter(void *context, const void *record, bool whole, struct json_writer *w)
{
	const struct record_list *list = context;
	if (whole && list->kind->write_whole)
		list->kind->write_whole(w, list, record);
	else
		write_record(w, list, record);
}

static bool is_visible(const struct record_list *list, const void *record)
{
	const struct record_kind *kind = list->kind;
	return !list->access || !kind->namespace_of ||
	       acl_allows_in(list->access->acl, kind->namespace_of(record), kind->shown_with);
}

static bool is_shown(struct record_list *list, const void *record)
{
	return record && is_visible(list, record) &&
	       (!list->kind->is_wanted || list->kind->is_wanted(list, record)) &&
	       list_filter_fits(&list->filter, write_for_filter, list, record);
}

// Records of one read section.
struct ahead {
	const void *record; // NULL: it is gone
	struct record_place at, after;
};

// Records lie anywhere in memory, and a list waits for little else: the next ones are found before the first is looked
// at, and what they point to is fetched step by step for all of them. Returns how many there are.
static uint32_t look_ahead(struct record_list *list, struct ahead *ahead, uint32_t most)
{
	struct record_place place = list->place;
	uint32_t count = 0;
	record_walk_prefetch(&list->walk, most);
	while (count < most &&
		record_walk_step(&list->walk, &place, &ahead[count].record, &ahead[count].at))
		ahead[count++].after = place;
	for (uint32_t step = 0; list->kind->prefetch && step < PREFETCH_STEPS; step++)
		for (uint32_t i = 0; i < count; i++)
			if (ahead[i].record)
				list->kind->prefetch(list, ahead[i].record, step);
	if (count == 0)
		list->place = place;
	return count;
}

static uint32_t section_size(const struct record_list *list)
{
	if (list->filter.filter)
		return FILTERED_PER_SECTION;
	// A page and the record after it.
	uint32_t page = list->size - list->shown + 1;
	return list->size && page < RECORDS_PER_SECTION ? page : RECORDS_PER_SECTION;
}

// False: the visit is over.
typedef bool record_visit(struct record_list *, const void *record, const struct record_place *at);

// Visits the next records that the list shows, in one read section. False: the visit is over.
static bool visit_section(
	struct record_list *list, record_visit *visit, uint32_t most, uint32_t *visited)
{
	struct ahead ahead[RECORDS_PER_SECTION];
	bool goes_on = true;
	state_read_begin();
	uint32_t count = look_ahead(list, ahead, most);
	for (uint32_t i = 0; i < count && goes_on; i++) {
		list->place = ahead[i].after;
		++*visited;
		if (is_shown(list, ahead[i].record))
			goes_on = visit(list, ahead[i].record, &ahead[i].at);
	}
	state_read_end();
	return goes_on;
}

// Visits what the list shows. False: there is more to look at.
static bool visit_some(struct record_list *list, record_visit *visit)
{
	uint32_t most = list->filter.filter ? FILTERED_AT_ONCE : RECORDS_VISITED_AT_ONCE;
	uint32_t visited = 0;
	bool goes_on = true;
	while (visited < most && goes_on) {
		if (!record_walk_prepare(&list->walk, &list->place))
			return true;
		goes_on = visit_section(list, visit, section_size(list), &visited);
	}
	return !goes_on;
}

static bool visit_page(struct record_list *list, const void *record, const struct record_place *at)
{
	if (list->shown == list->size) {
		list->end = *at;
		return false;
	}
	list->shown++;
	if (list->is_full)
		return true;
	write_record(&list->text, list, record);
	list->is_full = list->text.size > PAGE_TEXT_BYTES;
	if (list->is_full)
		list->unwritten = list->place;
	return true;
}

static bool is_past_end(const struct record_list *list, const struct record_place *at)
{
	int order = list->walk.by_id          ? uuid_compare(&at->id, &list->end.id)
		    : at->key < list->end.key ? -1
					      : at->key > list->end.key;
	return !list->end.is_end && (list->walk.reverse ? order <= 0 : order >= 0);
}

// A record that came after the page was counted would be one too many, and the next page does not begin with it.
static bool is_too_new(const struct record_list *list, const struct record *record)
{
	return list->size && record->create_index > list->begun_index;
}

static bool visit_stream(
	struct record_list *list, const void *record, const struct record_place *at)
{
	list->place.is_end |= is_past_end(list, at);
	if (!list->place.is_end && !is_too_new(list, record))
		write_record(list->stream, list, record);
	return !list->place.is_end && list->stream->size < list->wanted;
}

static bool produce_records(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct record_list *list = context;
	uint32_t visited = 0;
	list->stream = w;
	list->wanted = bytes_wanted;
	if (!record_walk_prepare(&list->walk, &list->place))
		return false;
	(void)visit_section(list, visit_stream,
		list->filter.filter ? FILTERED_PER_SECTION : RECORDS_PER_SECTION, &visited);
	return !list->place.is_end;
}

static void free_list(void *context)
{
	struct record_list *list = context;
	free(list->name_prefix);
	free(list->namespace_name);
	free(list->status);
	free(list->job);
	free(list->worker);
	free(list->path_name);
	access_release(list->access);
	record_walk_free(&list->walk);
	list_filter_free(&list->filter);
	json_writer_free(&list->text);
	free(list);
}

static char *copy_of(const struct request *request, const char *name)
{
	return text_copy(text_of(request_parameter(request, name)));
}

bool record_list_has_namespace(const struct record_list *list, const char *namespace_name)
{
	return strcmp(list->namespace_name, "*") == 0 ||
	       strcmp(list->namespace_name, namespace_name) == 0;
}

bool record_list_wants(const struct record_list *list, const struct uuid *id,
	const char *namespace_name, const char *status, const char *job_id)
{
	return id_prefix_fits(&list->id_prefix, id) &&
	       record_list_has_namespace(list, namespace_name) &&
	       (!*list->status || strcmp(list->status, status) == 0) &&
	       (!*list->job || strcmp(list->job, job_id) == 0);
}

static bool table_has_namespaces(enum state_table table)
{
	return table == STATE_JOBS || table == STATE_EVALUATIONS || table == STATE_ALLOCATIONS ||
	       table == STATE_DEPLOYMENTS;
}

static struct record_list *create_list(
	const struct request *request, const struct record_kind *kind)
{
	struct record_list *list = memory_take(sizeof *list);
	CHECK(kind->namespace_of || !table_has_namespaces(kind->table));
	list->kind = kind;
	list->access = access_hold(request->access);
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
	list->os = request_flag(request, "os");
	list->text.pretty = request_flag(request, "pretty");
	list->walk = (struct record_walk){.state = list->state,
		.table = kind->table,
		.by_id = kind->by_id,
		.reverse = request_flag(request, "reverse"),
		.prefetch_id = kind->prefetch_id};
	return list;
}

bool record_list_add(struct record_list *list, const struct uuid *id)
{
	struct record_walk *walk = &list->walk;
	if (walk->count == CHOSEN_MAX) {
		free(walk->ids);
		walk->ids = NULL;
		walk->is_chosen = false;
		return false;
	}
	if (!walk->ids)
		walk->ids = memory_take_array(CHOSEN_MAX, sizeof walk->ids[0]);
	walk->ids[walk->count++] = *id;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

// Collects the keys of the records that have the prefix, if they are few.
static void choose_keys(struct record_walk *walk)
{
	uint32_t count = state_ids_between(walk->state, walk->table, &walk->first, &walk->last);
	if (count > PREFIX_MAX)
		return;
	struct uuid *ids = memory_take_array(count + 1, sizeof *ids);
	count = state_ids_from(walk->state, walk->table, &walk->first, false, ids, count);
	walk->keys = memory_take_array(count + 1, sizeof walk->keys[0]);
	state_read_begin();
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = state_key_of(walk->state, walk->table, &ids[i]);
		if (key && uuid_compare(&ids[i], &walk->last) <= 0)
			walk->keys[walk->count++] = key;
	}
	state_read_end();
	if (walk->count)
		qsort(walk->keys, walk->count, sizeof walk->keys[0], by_key);
	walk->is_chosen = true;
	free(ids);
}

static bool needs_ids(const struct record_list *list)
{
	return !list->walk.is_chosen && (list->walk.by_id || list->id_prefix.size > 0);
}

static void begin_walk(struct record_list *list)
{
	struct record_walk *walk = &list->walk;
	const struct id_prefix *prefix = &list->id_prefix;
	if (walk->is_chosen) {
		if (walk->count)
			qsort(walk->ids, walk->count, sizeof walk->ids[0], uuid_order);
		memset(&walk->last, 0xff, sizeof walk->last);
	} else if (needs_ids(list)) {
		state_ids_settle(walk->state, walk->table);
		// A dash may be where no id has one.
		walk->is_chosen =
			!uuid_bounds(prefix->digits, prefix->size, &walk->first, &walk->last);
		if (!walk->by_id && !walk->is_chosen)
			choose_keys(walk);
	}
}

// Any one record: it tells which names a filter may use. NULL: there is none. Under read lock.
static const void *any_record(const struct record_list *list, const struct uuid *id)
{
	uint64_t cursor = 0;
	return list->walk.by_id ? state_record(list->state, list->walk.table, id)
				: state_next(list->state, list->walk.table, &cursor);
}

static bool learn_names(struct record_list *list, struct reply *reply)
{
	struct uuid id = {{0}};
	if (list->walk.is_chosen && list->walk.by_id && list->walk.count)
		id = list->walk.ids[0];
	else if (list->walk.by_id)
		(void)state_ids_from(list->state, list->walk.table, &id, false, &id, 1);
	state_read_begin();
	const void *any = any_record(list, &id);
	bool fine = !any || list_filter_learn(&list->filter, list->kind->type, write_for_filter,
				    list, any, reply);
	state_read_end();
	return fine;
}

// Checks what is wrong with the request before anything is looked at. False with a reply.
static bool check_request(
	struct record_list *list, const struct request *request, struct reply *reply)
{
	const struct record_kind *kind = list->kind;
	return (!kind->noun || id_prefix_read(request, kind->noun, &list->id_prefix, reply)) &&
	       page_size_read(request, &list->size, reply) &&
	       page_start_read(request, list->walk.by_id, &list->place, reply) &&
	       (kind->has_no_filter || list_filter_read(request, &list->filter, reply));
}

// Puts the start of the walk where the page begins.
static void begin_page(struct record_list *list, const struct request *request)
{
	const char *token = request_parameter(request, "next_token");
	struct record_place start = record_walk_start(&list->walk);
	if (!token || !*token) {
		list->place = start;
	} else if (list->walk.by_id) {
		int order = uuid_compare(&list->place.id, &start.id);
		if (list->walk.reverse ? order > 0 : order < 0)
			list->place = start;
	}
	if (list->size)
		json_begin_array(&list->text);
	list->end.is_end = true;
	list->begun_index = state_index(list->state);
}

static void end_list(struct request *request)
{
	free_list(request->context);
	request->context = NULL;
	request->context_free = NULL;
}

static void stream_list(struct record_list *list, struct request *request, struct reply *reply)
{
	// What was chosen is kept until the last of it is sent.
	if (!request_hold(request, (uint64_t)list->walk.count * sizeof(struct uuid), false)) {
		end_list(request);
		reply_no_memory(reply);
		return;
	}
	if (list->size) {
		list->place = list->unwritten;
		list->place.is_end = !list->is_full;
	}
	if (!list->end.is_end)
		reply->next_token = page_token(list->walk.by_id, &list->end);
	reply_index(reply, list->index);
	request->context = NULL;
	request->context_free = NULL;
	reply_stream(request, reply, list, &list->text, produce_records, free_list);
}

// Has the route called again on the thread of lists, if it is not there already.
static void defer(struct request *request, struct reply *reply)
{
	if (request->stage != REQUEST_WORKING)
		answer_in_background(request, reply, BACKGROUND_LISTS, request->route->answer);
}

// Makes the list ready to be walked. False: not yet, or with a reply.
static bool prepare_list(struct record_list *list, struct request *request, struct reply *reply)
{
	if (list->is_begun)
		return true;
	if (needs_ids(list) && request->stage != REQUEST_WORKING &&
		!state_ids_settle_soon(list->state, list->walk.table)) {
		defer(request, reply);
		return false;
	}
	begin_walk(list);
	if (!learn_names(list, reply)) {
		end_list(request);
		return false;
	}
	begin_page(list, request);
	list->is_begun = true;
	return true;
}

// A route that is called again goes on with the list that it began; true when there is one.
static bool list_goes_on(struct request *request, struct reply *reply)
{
	struct record_list *list = request->context;
	if (!list)
		return false;
	if (!prepare_list(list, request, reply))
		return true;
	if (list->size && !visit_some(list, visit_page))
		defer(request, reply);
	else
		stream_list(list, request, reply);
	return true;
}

static bool take_request(struct record_list *list, struct request *request, struct reply *reply)
{
	request->context = list;
	request->context_free = free_list;
	if (check_request(list, request, reply))
		return true;
	end_list(request);
	return false;
}

// Sets the index of the answer before anything is looked at, so that no change after it can be missed by waiting from
// there. Unlike other lists, a chosen one is empty when there is nobody whose records it shows.
static void choose_records(struct record_list *list, const struct request *request)
{
	if (!list->kind->choose) {
		list->index = list_index(request);
		return;
	}
	list->walk.is_chosen = true;
	state_read_begin();
	list->index = list->kind->choose(request, list);
	state_read_end();
	if (!list->index)
		list->index = table_index(request, list->kind->table);
}

void record_list_answer(
	struct request *request, struct reply *reply, const struct record_kind *kind)
{
	if (list_goes_on(request, reply))
		return;
	struct record_list *list = create_list(request, kind);
	choose_records(list, request);
	if (take_request(list, request, reply))
		(void)list_goes_on(request, reply);
}

void record_list_read(struct request *request, struct reply *reply)
{
	record_list_answer(request, reply, request->route->list);
}

uint64_t record_list_watched(const struct request *request)
{
	const struct record_kind *kind = request->route->list;
	return kind->watched ? kind->watched(request) : table_index(request, kind->table);
}

static bool visit_count(struct record_list *list, const void *record, const struct record_place *at)
{
	list->shown++;
	return true;
}

bool record_list_count(struct request *request, struct reply *reply, const struct record_kind *kind,
	uint64_t *count, uint64_t *index)
{
	if (!request->context) {
		struct record_list *list = create_list(request, kind);
		list->index = list_index(request);
		list->walk.reverse = false; // a count does not depend on it
		if (!take_request(list, request, reply))
			return false;
	}
	struct record_list *list = request->context;
	if (!prepare_list(list, request, reply))
		return false;
	if (!visit_some(list, visit_count)) {
		defer(request, reply);
		return false;
	}
	*count = list->shown;
	*index = list->index;
	end_list(request);
	return true;
}
