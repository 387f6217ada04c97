#include "tools/api/server/body.h"
#include <strings.h>

#define MESSAGE_BYTES 512u

static bool is_blank_from(const struct request *request, size_t first)
{
	for (size_t i = first; i < request->body_size; i++)
		if (!request->body[i] || !strchr(" \t\r\n", request->body[i]))
			return false;
	return true;
}

static bool is_blank(const struct request *request)
{
	return is_blank_from(request, 0);
}

// Nomad's clients send null for an empty body.
static bool is_null(const struct request *request)
{
	return request->body_size >= 4 && memcmp(request->body, "null", 4) == 0 &&
	       is_blank_from(request, 4);
}

json_t *body_read(struct request *request, struct reply *reply)
{
	return body_read_or_say(request, reply, "");
}

json_t *body_read_or_say(struct request *request, struct reply *reply, const char *before)
{
	char message[MESSAGE_BYTES];
	if (is_blank(request) || is_null(request))
		return json_object();
	json_t *body = json_parse(request->body, request->body_size, message, sizeof message);
	if (!body)
		reply_mistake(reply, "%s%s", before, message);
	return body;
}

json_t *body_read_some(struct request *request, struct reply *reply)
{
	if (!is_blank(request))
		return body_read(request, reply);
	reply_mistake(reply, "Request body is empty");
	return NULL;
}

json_t *body_read_list(struct request *request, struct reply *reply)
{
	json_error_t error;
	if (is_blank(request) || is_null(request))
		return json_array();
	json_t *body =
		json_loadb(request->body, request->body_size, JSON_REJECT_DUPLICATES, &error);
	if (json_is_array(body))
		return body;
	if (body)
		reply_mistake(reply, "line 1 column 1: a list of JSON objects is expected");
	else
		reply_mistake(reply, "line %d column %d: %s", error.line, error.column, error.text);
	json_decref(body);
	return NULL;
}

bool body_names(const struct request *request, json_t *body, const char *member, const char *what,
	struct reply *reply)
{
	const char *named = json_string_value(json_object_get(body, member));
	if (!named || !*named || strcasecmp(named, request->ids[0]) == 0)
		return true;
	return reply_mistake(reply,
		"%s does not match: the path says \"%.128s\", the body \"%.128s\"", what,
		request->ids[0], named);
}
