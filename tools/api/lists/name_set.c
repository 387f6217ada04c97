#include "tools/api/lists/name_set.h"
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

bool name_set_has(const struct name_set *set, const char *name)
{
	uint32_t at;
	return map_find(&set->names, sizeof(char *), name, &at);
}

bool name_set_answer(const struct name_set *set, struct request *request, struct reply *reply,
	void (*put)(struct json_writer *, const struct request *, const char *name))
{
	const char *prefix = request_parameter(request, "prefix");
	const char *token = request_parameter(request, "next_token");
	uint32_t size, shown = 0;
	if (!page_size_read(request, &size, reply))
		return false;
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	for (uint32_t i = 0; i < set->names.count && !reply->next_token; i++) {
		const char *name = name_at(set, i);
		if ((prefix && strncmp(name, prefix, strlen(prefix)) != 0) ||
			(token && strcmp(name, token) < 0))
			continue;
		if (size && shown++ == size)
			reply->next_token = text_copy(text_of(name));
		else
			put(w, request, name);
	}
	json_end_array(w);
	return true;
}

void name_set_free(struct name_set *set)
{
	for (uint32_t i = 0; i < set->names.count; i++)
		free(*ARRAY_AT(&set->names, char *, i));
	free(set->names.items);
	*set = (struct name_set){0};
}
