#include "tools/api/server/owned_text.h"
#include "state/base/memory.h"
#include <stdlib.h>

struct text owned_text(const char *string)
{
	struct text text = text_of(string);
	text.data = text_copy(text);
	return text;
}

void owned_text_free(struct text text)
{
	free((char *)text.data);
}

bool owned_meta_is_fit(json_t *meta, uint32_t most, struct reply *reply)
{
	const char *name;
	json_t *value;
	bool fits = !meta || json_is_null(meta) ||
		    (json_is_object(meta) && json_object_size(meta) <= most);
	json_object_foreach(meta, name, value)
	{
		fits = fits && json_is_string(value);
	}
	if (!fits)
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"Meta: an object of at most %u texts is expected", most);
	return fits;
}

struct node_pair *owned_meta(json_t *meta, uint32_t *count)
{
	struct node_pair *pairs = memory_take_array(json_object_size(meta) + 1, sizeof *pairs);
	const char *name;
	json_t *value;
	*count = 0;
	json_object_foreach(meta, name, value)
	{
		pairs[(*count)++] = (struct node_pair){
			PAIR_META, owned_text(name), owned_text(json_string_value(value))};
	}
	return pairs;
}

void owned_meta_free(const struct node_pair *pairs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		owned_text_free(pairs[i].name);
		owned_text_free(pairs[i].value);
	}
	free((struct node_pair *)pairs);
}
