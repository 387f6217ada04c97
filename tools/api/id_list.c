#include "tools/api/id_list.h"
#include "state/base/memory.h"
#include "tools/api/list_page.h"
#include "tools/api/list_stream.h"
#include <ctype.h>
#include <stdlib.h>

// Records written in one read section: a stream must not hold up reclamation.
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

static int by_id(const void *a, const void *b)
{
	const struct id_item *x = a, *y = b;
	return uuid_compare(&x->id, &y->id);
}

void id_list_sort(struct id_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof list->items[0], by_id);
}

bool id_list_page(struct id_list *list, const struct request *request, struct reply *reply)
{
	const char *token = request_parameter(request, "next_token");
	uint32_t size;
	if (!page_size_read(request, &size, reply))
		return false;
	if (token && *token) {
		struct uuid first;
		if (!uuid_parse(token, &first)) {
			reply_error(reply, MHD_HTTP_BAD_REQUEST,
				"next_token must be the X-Nomad-NextToken of the page before");
			return false;
		}
		while (list->next < list->count &&
			uuid_compare(&list->items[list->next].id, &first) < 0)
			list->next++;
	}
	if (size && list->count - list->next > size) {
		char text[UUID_TEXT_BYTES];
		list->count = list->next + size;
		uuid_format(&list->items[list->count].id, text);
		reply->next_token = text_copy(text_of(text));
	}
	return true;
}

static bool produce(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct id_list *list = context;
	state_read_begin();
	for (uint32_t i = 0; i < ITEMS_PER_SECTION && w->size < bytes_wanted; i++) {
		if (list->next == list->count)
			break;
		list->write(list, w, &list->items[list->next++]);
	}
	state_read_end();
	return list->next < list->count;
}

static void free_list(void *context)
{
	id_list_free(context);
}

void id_list_stream(struct id_list *list, struct request *request, struct reply *reply)
{
	reply_stream(request, reply, list, produce, free_list);
}

void id_list_free(struct id_list *list)
{
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
