#include "tools/api/lists/name_set.h"
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

void name_set_json(const struct name_set *set, const char *prefix, struct json_writer *w,
	void (*put)(struct json_writer *, const char *name))
{
	json_begin_array(w);
	for (uint32_t i = 0; i < set->names.count; i++)
		if (!prefix || strncmp(name_at(set, i), prefix, strlen(prefix)) == 0)
			put(w, name_at(set, i));
	json_end_array(w);
}

void name_set_free(struct name_set *set)
{
	for (uint32_t i = 0; i < set->names.count; i++)
		free(*ARRAY_AT(&set->names, char *, i));
	free(set->names.items);
	*set = (struct name_set){0};
}
