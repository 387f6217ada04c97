#include "tools/api/nomad/variables/variable_body.h"
#include "state/base/limits.h"
#include "tools/api/server/body.h"

#define RESERVED_JOBS "nomad/jobs"
#define RESERVED_TEMPLATES "nomad/job-templates"

// As Go calls the types of JSON.
static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "object";
	case JSON_ARRAY: return "array";
	case JSON_STRING: return "string";
	case JSON_TRUE:
	case JSON_FALSE: return "bool";
	default: return "number";
	}
}

static bool refuse_type(
	struct reply *reply, const json_t *value, const char *member, const char *type)
{
	return reply_mistake(reply,
		"json: cannot unmarshal %s into Go struct field VariableDecrypted.%s of type %s",
		type_name(value), member, type);
}

// A value of null is "".
static bool read_items(json_t *object, struct variable_items *items, struct reply *reply)
{
	const char *name;
	json_t *value;
	items->items = (struct array){0};
	if (!json_is_object(object) && !json_is_absent(object))
		return refuse_type(reply, object, "Items", "structs.VariableItems");
	json_object_foreach(object, name, value)
	{
		if (!json_is_string(value) && !json_is_null(value))
			return refuse_type(reply, value, "Items", "string");
		struct string_pair *pair = array_append(&items->items, sizeof *pair);
		pair->name = text_copy(text_of(name));
		pair->value = text_copy(text_of(json_string_value(value)));
	}
	(void)map_sort(&items->items, sizeof(struct string_pair)); // names of an object are unique
	if (items->items.count == 0)
		return reply_mistake(reply, "variable missing required Items object");
	return true;
}

static char *read_namespace(const struct request *request, json_t *body, struct reply *reply)
{
	json_t *space = json_object_get(body, "Namespace"), *path = json_object_get(body, "Path");
	const char *named = json_string_value(space);
	json_t *wrong = !json_is_absent(space) && !named                 ? space
			: !json_is_absent(path) && !json_is_string(path) ? path
									 : NULL;
	if (wrong)
		refuse_type(reply, wrong, wrong == space ? "Namespace" : "Path", "string");
	return wrong ? NULL
		     : text_copy(text_of(named && *named ? named : request_namespace(request)));
}

char *variable_body_read(struct request *request, struct reply *reply, struct variable_items *items)
{
	char *namespace_name = NULL;
	json_t *body = body_read_some(request, reply);
	if (body && read_items(json_object_get(body, "Items"), items, reply))
		namespace_name = read_namespace(request, body, reply);
	json_decref(body);
	return namespace_name;
}

// NULL, or why the path is reserved.
static const char *reserved_path(const char *path)
{
	if (strcmp(path, "nomad") == 0)
		return "\"nomad\" is a reserved top-level directory path, but you may write "
		       "variables to \"nomad/jobs\", \"nomad/job-templates\", or below";
	if (strncmp(path, "nomad/", 6) != 0 || strcmp(path, RESERVED_JOBS) == 0 ||
		strncmp(path, RESERVED_JOBS "/", sizeof RESERVED_JOBS) == 0)
		return NULL;
	const char *template = path + sizeof RESERVED_TEMPLATES;
	if (strncmp(path, RESERVED_TEMPLATES "/", sizeof RESERVED_TEMPLATES) == 0 &&
		!strchr(template, '/'))
		return NULL;
	if (strncmp(path, RESERVED_TEMPLATES, sizeof RESERVED_TEMPLATES - 1) == 0 &&
		strchr("/", path[sizeof RESERVED_TEMPLATES - 1]))
		return "\"nomad/job-templates\" is a reserved directory path, but you may write "
		       "variables at the level below it, for example, "
		       "\"nomad/job-templates/template-name\"";
	return "only paths at \"nomad/jobs\" or \"nomad/job-templates\" and below are valid paths "
	       "under the top-level \"nomad\" directory";
}

#define REFUSE(reply, ...) reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, __VA_ARGS__)

bool variable_is_fit(const char *namespace_name, const char *path,
	const struct variable_items *items, struct reply *reply)
{
	struct text space = text_of(namespace_name);
	const char *reserved = reserved_path(path);
	reply_index(reply, 0);
	if (text_equal(space, TEXT("*")))
		return REFUSE(reply, "can not target wildcard (\"*\")namespace");
	if (variable_items_bytes(items) > VARIABLE_ITEMS_BYTES_MAX)
		return REFUSE(reply, "variables are limited to 64KiB in total size");
	if (!variable_path_is_fit(text_of(path)))
		return REFUSE(reply, "invalid path \"%s\"", path);
	if (reserved)
		return REFUSE(reply, "%s", reserved);
	if (!variable_namespace_is_fit(space))
		return reply_mistake(reply,
			"a namespace has 1 to %u bytes, and no control characters", NAME_BYTES_MAX);
	return true;
}
