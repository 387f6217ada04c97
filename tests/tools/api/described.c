#include "tests/tools/api/described.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/api/openapi/document.h"
#include "tools/api/routes.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *document;

static void make_document(void)
{
	struct json_writer w = {0};
	openapi_write(&w, &api_routes);
	char *text = json_writer_take(&w);
	json_error_t error;
	document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		fprintf(stderr, "the document is no JSON: %s\n", error.text);
	free(text);
}

const json_t *described_document(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_document);
	assert_non_null(document);
	return document;
}

// Where a value stands in its answer, and the first thing that is wrong.
struct place {
	char path[256], wrong[512];
};

static bool is_wrong(struct place *p, const char *what, const char *about)
{
	snprintf(p->wrong, sizeof p->wrong, "%.200s: %s %.200s", p->path, what, about);
	return false;
}

static bool type_fits(const char *type, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return strcmp(type, "object") == 0;
	case JSON_ARRAY: return strcmp(type, "array") == 0;
	case JSON_STRING: return strcmp(type, "string") == 0;
	case JSON_INTEGER: return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
	case JSON_REAL: return strcmp(type, "number") == 0;
	case JSON_NULL: return strcmp(type, "null") == 0;
	default: return strcmp(type, "boolean") == 0;
	}
}

static bool any_type_fits(const json_t *types, const json_t *value)
{
	size_t i;
	json_t *type;
	if (!types)
		return true;
	if (json_is_string(types))
		return type_fits(json_string_value(types), value);
	json_array_foreach(
		types, i, type) if (type_fits(json_string_value(type), value)) return true;
	return false;
}

static bool fits(const json_t *schema, const json_t *value, struct place *);

static bool fits_inside(
	const json_t *schema, const json_t *value, struct place *p, const char *name)
{
	size_t size = strlen(p->path);
	snprintf(p->path + size, sizeof p->path - size, ".%s", name);
	bool is_so = fits(schema, value, p);
	p->path[size] = '\0';
	return is_so;
}

static bool members_fit(const json_t *schema, const json_t *value, struct place *p)
{
	const json_t *properties = json_object_get(schema, "properties"),
		     *others = json_object_get(schema, "additionalProperties"), *name;
	const char *key;
	json_t *member;
	size_t i;
	json_array_foreach(json_object_get(schema, "required"), i,
		name) if (!json_object_get(value, json_string_value(name))) return is_wrong(p,
		"lacks", json_string_value(name));
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		const json_t *inner = json_object_get(properties, key);
		inner = inner ? inner : others;
		if (!inner)
			return is_wrong(p, "has what is not described:", key);
		if (!fits_inside(inner, member, p, key))
			return false;
	}
	return true;
}

static bool one_fits(const json_t *schemas, const json_t *value, struct place *p)
{
	size_t i;
	json_t *schema;
	json_array_foreach(schemas, i, schema) if (fits(schema, value, p)) return true;
	return false;
}

static bool is_among(const json_t *names, const json_t *value)
{
	size_t i;
	json_t *name;
	json_array_foreach(names, i, name) if (json_equal(name, value)) return true;
	return !names;
}

static const json_t *referred(const json_t *schema)
{
	static const char prefix[] = "#/components/schemas/";
	const char *reference = json_string_value(json_object_get(schema, "$ref"));
	assert_true(strncmp(reference, prefix, sizeof prefix - 1) == 0);
	const json_t *schemas =
		json_object_get(json_object_get(described_document(), "components"), "schemas");
	const json_t *found = json_object_get(schemas, reference + sizeof prefix - 1);
	assert_non_null(found);
	return found;
}

static bool fits(const json_t *schema, const json_t *value, struct place *p)
{
	size_t i;
	json_t *item;
	if (json_object_get(schema, "$ref"))
		return fits(referred(schema), value, p);
	if (json_object_get(schema, "anyOf"))
		return one_fits(json_object_get(schema, "anyOf"), value, p);
	if (!any_type_fits(json_object_get(schema, "type"), value))
		return is_wrong(p, "is of another type", "");
	if (!is_among(json_object_get(schema, "enum"), value))
		return is_wrong(p, "has no name that is described", "");
	if (json_is_object(value) && json_object_get(schema, "type"))
		return members_fit(schema, value, p);
	json_array_foreach(value, i, item) if (json_object_get(schema, "items") &&
					       !fits_inside(json_object_get(schema, "items"), item,
						       p, "[]")) return false;
	return true;
}

// "/v1/job/:id" is "/v1/job/{id}" there.
static void path_described(const char *pattern, char path[static 256])
{
	size_t size = 0;
	bool is_name = false;
	for (; *pattern; pattern++) {
		assert_true(size + 3 < 256);
		is_name |= *pattern == ':';
		path[size++] = *pattern == ':' ? '{' : *pattern;
		if (!is_name || (pattern[1] != '/' && pattern[1] != '\0'))
			continue;
		path[size++] = '}';
		is_name = false;
	}
	path[size] = '\0';
}

static const json_t *operation_described(const struct route *route, const char *method)
{
	char path[256], name[8];
	path_described(route->pattern, path);
	snprintf(name, sizeof name, "%s", method);
	for (char *c = name; *c; c++)
		*c = (char)(*c | 0x20); // small letters
	const json_t *paths = json_object_get(described_document(), "paths");
	return json_object_get(json_object_get(paths, path), name);
}

static const json_t *schema_of(const struct route *route, const char *method)
{
	const json_t *operation = operation_described(route, method);
	if (!operation)
		fail_msg("%s %s is not described", method, route->pattern);
	const json_t *answer = json_object_get(json_object_get(operation, "responses"), "200");
	const json_t *content = json_object_get(answer, "content");
	return json_object_get(json_object_get(content, "application/json"), "schema");
}

// Longer answers are lists of many items that are alike.
#define BYTES_LOOKED_AT (256u << 10)

void expect_described(const char *method, const char *path, const struct response *r)
{
	const char *ids[ROUTE_IDS_MAX];
	const struct route *route;
	if (r->status != 200 || r->size > BYTES_LOOKED_AT ||
		!response_has(r, "Content-Type: application/json") ||
		response_has(r, "Content-Encoding: gzip"))
		return;
	char *asked = text_copy((struct text){path, (uint32_t)strcspn(path, "?")});
	enum route_match match = route_find(&api_routes, method, asked, &route, ids);
	json_t *value = json_loads(r->body, JSON_DECODE_ANY, NULL);
	if (match == ROUTE_FOUND && value) {
		const json_t *schema = schema_of(route, method);
		struct place place = {.path = ""};
		if (!schema)
			fail_msg("%s %s answers JSON, which is not described", method, path);
		if (!fits(schema, value, &place))
			fail_msg("%s %s is not as described: %s", method, path, place.wrong);
	}
	json_decref(value);
	free(asked);
}
