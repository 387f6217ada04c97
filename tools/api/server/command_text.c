#include "tools/api/server/command_text.h"

struct text command_text(struct request *request, const char *string)
{
	struct text text = text_of(string);
	char *copy = submission_take(request, text.size + 1u);
	if (text.size)
		memcpy(copy, string, text.size);
	return (struct text){copy, text.size};
}

bool meta_is_fit(json_t *meta, uint32_t most, struct reply *reply)
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
		reply_mistake(reply, "Meta: an object of at most %u texts is expected", most);
	return fits;
}

struct node_pair *command_meta(struct request *request, json_t *meta, uint32_t *count)
{
	struct node_pair *pairs =
		submission_take(request, (json_object_size(meta) + 1) * sizeof *pairs);
	const char *name;
	json_t *value;
	*count = 0;
	json_object_foreach(meta, name, value)
	{
		pairs[(*count)++] = (struct node_pair){PAIR_META, command_text(request, name),
			command_text(request, json_string_value(value))};
	}
	return pairs;
}

bool path_uuid(
	const struct request *request, const char *noun, struct uuid *id, struct reply *reply)
{
	if (uuid_parse(request->ids[0], id))
		return true;
	return reply_error(reply, MHD_HTTP_NOT_FOUND, "%s not found", noun);
}
