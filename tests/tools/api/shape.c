#include "tests/tools/api/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *type_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "object";
	case JSON_ARRAY: return "list";
	case JSON_STRING: return "string";
	case JSON_INTEGER: return "integer";
	case JSON_REAL: return "real";
	case JSON_NULL: return "null";
	default: return "bool";
	}
}

static bool type_fits(const char *types, const char *type)
{
	for (const char *at = types; *at; at += strcspn(at, "|"), at += *at == '|') {
		size_t size = strcspn(at, "|");
		if (strncmp(at, "any", size) == 0 ||
			(strlen(type) == size && strncmp(at, type, size) == 0))
			return true;
		if (size == 6 && strncmp(at, "number", 6) == 0 &&
			(strcmp(type, "integer") == 0 || strcmp(type, "real") == 0))
			return true;
	}
	return false;
}

static void compare(json_t *value, json_t *shape, const char *path)
{
	char inner[512];
	const char *name;
	json_t *part;
	if (json_is_string(shape)) {
		if (!value || !type_fits(json_string_value(shape), type_of(value)))
			fail_msg("%s is %s, not %s", path, value ? type_of(value) : "missing",
				json_string_value(shape));
		return;
	}
	if (!value || json_typeof(value) != json_typeof(shape))
		fail_msg("%s is %s, not %s", path, value ? type_of(value) : "missing",
			type_of(shape));
	if (json_is_array(shape)) {
		json_t *item = json_array_get(shape, 0);
		if (json_is_object(item) && json_array_size(value) == 0)
			fail_msg("%s is empty", path);
		for (size_t i = 0; i < json_array_size(value); i++) {
			snprintf(inner, sizeof inner, "%s[%zu]", path, i);
			compare(json_array_get(value, i), item, inner);
		}
		return;
	}
	json_object_foreach(shape, name, part)
	{
		snprintf(inner, sizeof inner, "%s.%s", path, name);
		if (strcmp(name, "*") != 0)
			compare(json_object_get(value, name), part, inner);
	}
	json_t *others = json_object_get(shape, "*");
	json_object_foreach(value, name, part)
	{
		snprintf(inner, sizeof inner, "%s.%s", path, name);
		if (others && !json_object_get(shape, name))
			compare(part, others, inner);
	}
}

void assert_shape(json_t *value, const char *name)
{
	char path[512];
	json_error_t error;
	snprintf(path, sizeof path, "%s/%s.json", GOLDEN_FOLDER, name);
	json_t *shape = json_load_file(path, JSON_DECODE_ANY, &error);
	if (!shape)
		fail_msg("%s line %d: %s", path, error.line, error.text);
	compare(value, shape, name);
	json_decref(shape);
}
