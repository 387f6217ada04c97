#include "tools/api/lists/id_list.h"
#include "state/base/memory.h"
#include "tools/api/lists/list_page.h"
#include "tools/api/lists/list_stream.h"
#include "tools/api/server/background_answers.h"
#include <ctype.h>
#include <stdlib.h>

// Records that one read section writes: a stream must not hold up reclamation.
#define ITEMS_PER_SECTION 64u

struct id_list *id_list_create(struct api *api)
{
	struct id_list *list = memory_take(sizeof *list);
	list->api = api;
	return list;
}

void id_list_add(struct id_list *list, const struct uuid *id, uint32_t slot)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 64;
		list->items =
			memory_resize(list->items, (size_t)list->capacity * sizeof list->items[0]);
	}
	list->items[list->count++] = (struct id_item){*id, slot};
}

bool id_list_visits(struct id_list *list, const struct request *request)
{
	list->visited++;
	return request->stage == REQUEST_WORKING || list->visited <= RECORDS_VISITED_AT_ONCE;
}

bool id_list_begins_again(struct id_list *list, struct request *request, struct reply *reply)
{
	if (list->visited <= RECORDS_VISITED_AT_ONCE ||
		!list_begins_in_background(request, reply, request->route->answer))
		return false;
	id_list_free(list);
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct id_item *x = a, *y = b;
	return uuid_compare(&x->id, &y->id);
}

static void sort_items(struct id_list *list, bool reverse)
{
	if (list->count)
		qsort(list->items, list->count, sizeof list->items[0], by_id);
	for (uint32_t i = 0; reverse && i < list->count / 2; i++) {
		struct id_item *a = &list->items[i], *b = &list->items[list->count - 1 - i];
		struct id_item first = *a;
		*a = *b;
		*b = first;
	}
}

static void write_for_filter(void *context, const void *item, bool whole, struct json_writer *w)
{
	struct id_list *list = context;
	if (whole && list->write_whole)
		list->write_whole(list, w, item);
	else
		list->write(list, w, item);
}

static bool is_shown(struct id_list *list, const struct id_item *item)
{
	return list_filter_fits(&list->filter, write_for_filter, list, item);
}

static bool learn_names(struct id_list *list, struct reply *reply)
{
	state_read_begin();
	bool fine = !list->count || list_filter_learn(&list->filter, list->type, write_for_filter,
					    list, &list->items[0], reply);
	state_read_end();
	return fine;
}

// Begins the page at the token's item, or at the next item when that is gone.
static bool begin_page(struct id_list *list, const struct request *request, struct reply *reply)
{
	const char *token = request_parameter(request, "next_token");
	bool reverse = request_flag(request, "reverse");
	struct uuid first;
	if (!token || !*token)
		return true;
	if (!uuid_parse(token, &first)) {
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"next_token must be the X-Nomad-NextToken of the page before");
		return false;
	}
	for (; list->next < list->count; list->next++) {
		int order = uuid_compare(&list->items[list->next].id, &first);
		if (reverse ? order <= 0 : order >= 0)
			break;
	}
	return true;
}

// Keeps `size` items that the list shows; the next shown item begins the next page.
static void cut_page(struct id_list *list, uint32_t size, struct reply *reply)
{
	uint32_t shown = 0, at = list->next;
	while (at < list->count && shown <= size) {
		state_read_begin();
		for (uint32_t i = 0; i < ITEMS_PER_SECTION && at < list->count && shown <= size;
			i++, at++)
			shown += is_shown(list, &list->items[at]);
		state_read_end();
	}
	if (shown <= size)
		return;
	char text[UUID_TEXT_BYTES];
	list->count = at - 1;
	uuid_format(&list->items[list->count].id, text);
	reply->next_token = text_copy(text_of(text));
}

static bool produce_items(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct id_list *list = context;
	state_read_begin();
	for (uint32_t i = 0; i < ITEMS_PER_SECTION && w->size < bytes_wanted; i++) {
		if (list->next == list->count)
			break;
		const struct id_item *item = &list->items[list->next++];
		if (is_shown(list, item))
			list->write(list, w, item);
	}
	state_read_end();
	return list->next < list->count;
}

static void free_list(void *context)
{
	id_list_free(context);
}

void id_list_answer(
	struct id_list *list, uint64_t index, struct request *request, struct reply *reply)
{
	uint32_t size;
	if (list_filter_defers(request, reply, false)) {
		id_list_free(list);
		return;
	}
	sort_items(list, request_flag(request, "reverse"));
	if (!page_size_read(request, &size, reply) || !begin_page(list, request, reply) ||
		!list_filter_read(request, &list->filter, reply) || !learn_names(list, reply)) {
		id_list_free(list);
		return;
	}
	if (size)
		cut_page(list, size, reply);
	reply_index(reply, index);
	reply_stream(request, reply, list, produce_items, free_list);
}

void id_list_free(struct id_list *list)
{
	list_filter_free(&list->filter);
	free(list->items);
	free(list);
}

bool id_prefix_read(const struct request *request, const char *what, struct id_prefix *prefix,
	struct reply *reply)
{
	const char *text = request_parameter(request, "prefix");
	*prefix = (struct id_prefix){0};
	for (; text && *text; text++) {
		bool fits = isxdigit((unsigned char)*text) || *text == '-';
		if (!fits || prefix->size == UUID_TEXT_BYTES - 1) {
			reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
				"%s lookup failed: index error: Invalid UUID: a prefix is made of "
				"hexadecimal digits and dashes, at most 36",
				what);
			return false;
		}
		prefix->digits[prefix->size++] = (char)tolower((unsigned char)*text);
	}
	return true;
}

bool id_prefix_fits(const struct id_prefix *prefix, const struct uuid *id)
{
	char text[UUID_TEXT_BYTES];
	return !prefix->size || memcmp(uuid_format(id, text), prefix->digits, prefix->size) == 0;
}
