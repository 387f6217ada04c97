#include "tests/nomad/recorded.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE_MAX_BYTES 512

struct recorded {
	json_t *shapes;      // of a record: member -> types; of a route: "" -> types
	json_t *seen;        // by the name of a record or route
	json_t *differences; // what -> route
	const char *route;   // that is being compared
};

static void recorded_read_line(struct recorded *r, char *line, char name[static LINE_MAX_BYTES])
{
	line[strcspn(line, "\n")] = '\0';
	if (*line == '#' || *line == '\0')
		return;
	if (*line != '\t') {
		bool is_record = strncmp(line, "record ", 7) == 0;
		snprintf(name, LINE_MAX_BYTES, "%s", line + (is_record ? 7 : 0));
		json_object_set_new(r->shapes, name, json_object());
		json_object_set_new(r->seen, name, json_integer(0));
		return;
	}
	char *types = strchr(line + 1, '\t');
	const char *member = types ? line + 1 : "";
	if (types)
		*types++ = '\0';
	else
		types = line + 1;
	json_object_set_new(json_object_get(r->shapes, name), member, json_string(types));
}

struct recorded *recorded_load(void)
{
	char line[LINE_MAX_BYTES], name[LINE_MAX_BYTES] = "";
	struct recorded *r = memory_take(sizeof *r);
	FILE *file = fopen(RECORDED_SHAPES, "r");
	assert_non_null(file);
	*r = (struct recorded){json_object(), json_object(), json_object(), ""};
	while (fgets(line, sizeof line, file))
		recorded_read_line(r, line, name);
	fclose(file);
	return r;
}

void recorded_free(struct recorded *r)
{
	json_decref(r->shapes);
	json_decref(r->seen);
	json_decref(r->differences);
	free(r);
}

json_t *recorded_differences(const struct recorded *r)
{
	return r->differences;
}

json_t *recorded_names(const struct recorded *r)
{
	return r->seen;
}

json_int_t recorded_seen(const struct recorded *r, const char *name)
{
	return json_integer_value(json_object_get(r->seen, name));
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "map";
	case JSON_ARRAY: return "list";
	case JSON_STRING: return "string";
	case JSON_INTEGER: return "integer";
	case JSON_REAL: return "real";
	case JSON_NULL: return "null";
	default: return "bool";
	}
}

static void recorded_note(struct recorded *r, const char *where, const char *what)
{
	char text[4 * LINE_MAX_BYTES + 8];
	snprintf(text, sizeof text, "%s: %s", where, what);
	if (!json_object_get(r->differences, text))
		json_object_set_new(r->differences, text, json_string(r->route));
}

// Whether a value is of one type; what is in it is looked at later.
static bool recorded_type_fits(const struct recorded *r, const char *type, const json_t *value)
{
	const char *is = type_name(value);
	size_t size = strcspn(type, " ");
	if (json_object_get(r->shapes, type))
		return json_is_object(value);
	if (strcmp(type, "real") == 0 || strcmp(type, "number") == 0)
		return json_is_number(value);
	return strlen(is) == size && strncmp(is, type, size) == 0;
}

static void recorded_look(
	struct recorded *r, const char *where, const char *types, const json_t *value);

static void recorded_look_at_record(struct recorded *r, const char *name, const json_t *value)
{
	const char *member;
	json_t *types;
	char where[2 * LINE_MAX_BYTES];
	json_object_set_new(r->seen, name, json_integer(recorded_seen(r, name) + 1));
	json_object_foreach(json_object_get(r->shapes, name), member, types)
	{
		size_t size = strnlen(member, LINE_MAX_BYTES - 1);
		bool optional = member[size - 1] == '?';
		char key[LINE_MAX_BYTES];
		memcpy(key, member, size + 1);
		key[size - optional] = '\0';
		snprintf(where, sizeof where, "%s.%s", name, key);
		const json_t *part = json_object_get(value, key);
		// What may be left out may be null.
		if (part && !(optional && json_is_null(part)))
			recorded_look(r, where, json_string_value(types), part);
		else if (!part && !optional)
			recorded_note(r, where, "missing");
	}
}

static void recorded_look_inside(
	struct recorded *r, const char *where, const char *type, const json_t *value)
{
	const char *key;
	json_t *part;
	size_t i;
	if (json_object_get(r->shapes, type))
		recorded_look_at_record(r, type, value);
	else if (strncmp(type, "list of ", 8) == 0)
		json_array_foreach((json_t *)value, i, part)
			recorded_look(r, where, type + 8, part);
	else if (strncmp(type, "map of ", 7) == 0)
		json_object_foreach((json_t *)value, key, part)
			recorded_look(r, where, type + 7, part);
}

static void recorded_look(
	struct recorded *r, const char *where, const char *types, const json_t *value)
{
	char copy[LINE_MAX_BYTES], what[2 * LINE_MAX_BYTES], *rest = NULL;
	// "list of null or Job".
	bool nullable = strncmp(types, "null or ", 8) == 0;
	if (nullable && json_is_null(value))
		return;
	snprintf(copy, sizeof copy, "%s", types + (nullable ? 8 : 0));
	// What was always null says nothing of the type that it would have.
	if (strcmp(types, "null") == 0)
		return;
	for (char *type = strtok_r(copy, "|", &rest); type; type = strtok_r(NULL, "|", &rest)) {
		if (!recorded_type_fits(r, type, value))
			continue;
		recorded_look_inside(r, where, type, value);
		return;
	}
	snprintf(what, sizeof what, "%s instead of %s", type_name(value), types);
	recorded_note(r, where, what);
}

void recorded_compare(struct recorded *r, const char *route, json_t *answer)
{
	json_t *shape = json_object_get(r->shapes, route);
	if (!shape)
		fail_msg("no recorded shape of %s", route);
	r->route = route;
	json_object_set_new(r->seen, route, json_integer(recorded_seen(r, route) + 1));
	recorded_look(r, route, json_string_value(json_object_get(shape, "")), answer);
}
