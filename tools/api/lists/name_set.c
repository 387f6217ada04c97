#include "tools/api/lists/name_set.h"
#include "state/base/memory.h"
#include "tools/api/lists/list_filter.h"
#include "tools/api/lists/list_page.h"
#include <stdlib.h>
#include <string.h>

static const char *name_at(const struct name_set *set, uint32_t i)
{
	return *ARRAY_AT(&set->names, char *, i);
}

void name_set_add(struct name_set *set, const char *name)
{
	(void)map_item(&set->names, sizeof(char *), name);
}

void name_set_append(struct name_set *set, const char *name)
{
	char **names = set->names.items;
	set->names.items = names =
		memory_one_more(names, set->names.count, &set->capacity, sizeof *names);
	names[set->names.count++] = text_copy(text_of(name));
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void name_set_sort(struct name_set *set)
{
	if (set->names.count)
		qsort(set->names.items, set->names.count, sizeof(char *), name_order);
}

bool name_set_has(const struct name_set *set, const char *name)
{
	uint32_t at;
	return map_find(&set->names, sizeof(char *), name, &at);
}

void name_set_keep(struct name_set *set, const struct request *request, name_set_may *may)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < set->names.count; i++) {
		char *name = *ARRAY_AT(&set->names, char *, i);
		if (may(request, name))
			*ARRAY_AT(&set->names, char *, kept++) = name;
		else
			free(name);
	}
	set->names.count = kept;
}

struct listing {
	const struct name_set *set;
	const struct request *request;
	name_set_put *put;
	const char *prefix, *token; // NULL: none
	uint32_t size, shown;       // of a page; 0: all
	bool reverse;
	struct list_filter filter;
};

static void write_item(void *list, const void *name, bool whole, struct json_writer *w)
{
	const struct listing *l = list;
	l->put(w, l->request, name);
}

static bool is_before_page(const struct listing *l, const char *name)
{
	int order = l->token ? strcmp(name, l->token) : 0;
	return l->reverse ? order > 0 : order < 0;
}

static void put_item(
	struct listing *l, const char *name, struct json_writer *w, struct reply *reply)
{
	if ((l->prefix && strncmp(name, l->prefix, strlen(l->prefix)) != 0) ||
		is_before_page(l, name))
		return;
	state_read_begin();
	bool fits = list_filter_fits(&l->filter, write_item, l, name);
	if (fits && l->size && l->shown++ == l->size)
		reply->next_token = text_copy(text_of(name));
	else if (fits)
		l->put(w, l->request, name);
	state_read_end();
}

static bool learn(struct listing *l, struct reply *reply)
{
	bool knows = true;
	state_read_begin();
	if (l->set->names.count)
		knows = list_filter_learn(
			&l->filter, NULL, write_item, l, name_at(l->set, 0), reply);
	state_read_end();
	return knows;
}

static void put_items(struct listing *l, struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	uint32_t count = l->set->names.count;
	json_begin_array(w);
	for (uint32_t i = 0; i < count && !reply->next_token; i++)
		put_item(l, name_at(l->set, l->reverse ? count - 1 - i : i), w, reply);
	json_end_array(w);
}

bool name_set_answer(
	const struct name_set *set, struct request *request, struct reply *reply, name_set_put *put)
{
	struct listing l = {.set = set,
		.request = request,
		.put = put,
		.prefix = set->prefix_is_done ? NULL : request_parameter(request, "prefix"),
		.token = request_parameter(request, "next_token"),
		.reverse = request_flag(request, "reverse")};
	if (!page_size_read(request, &l.size, reply) ||
		!list_filter_read(request, &l.filter, reply))
		return false;
	bool knows = learn(&l, reply);
	if (knows)
		put_items(&l, request, reply);
	list_filter_free(&l.filter);
	return knows;
}

void name_set_free(struct name_set *set)
{
	map_free(&set->names, sizeof(char *));
}
