// What all of a rendering shares: its memory, what it has cost, and what went wrong.
#include "tools/template/run.h"
#include <stdarg.h>
#include <stdio.h>

struct value render_fail(struct render *run, uint32_t at, const char *format, ...)
{
	va_list arguments;

	if (!run->failed) {
		run->failed = true;
		template_place(run->template->text, at, run->trouble);
		va_start(arguments, format);
		vsnprintf(run->trouble->text, sizeof run->trouble->text, format, arguments);
		va_end(arguments);
	}
	return (struct value){0};
}

void render_misses(struct render *run, const char *what, const char *path)
{
	char name[200];
	size_t size = strlen(run->missing);

	snprintf(name, sizeof name, "%s(%.150s)", what, path);
	if (strstr(run->missing, name))
		return;
	if (run->missing_count++ < RENDER_MISSING_NAMED)
		snprintf(run->missing + size, sizeof run->missing - size, "%s%s", size ? ", " : "",
			name);
}

bool render_step(struct render *run, uint32_t steps)
{
	run->steps += steps;
	if (run->steps > RENDER_STEPS_MAX)
		render_fail(
			run, run->at, "the template takes more than %u steps", RENDER_STEPS_MAX);
	return !run->failed;
}

void *render_take(struct render *run, size_t bytes)
{
	run->memory_used += bytes + 16;
	if (run->memory_used > RENDER_MEMORY_BYTES_MAX) {
		render_fail(run, run->at, "the values take more than %u MiB",
			RENDER_MEMORY_BYTES_MAX >> 20);
		return NULL;
	}
	return arena_room(&run->memory, bytes + 1);
}

struct value value_copy(struct render *run, const char *data, size_t size)
{
	char *copy = render_take(run, size);
	if (copy && size)
		memcpy(copy, data, size);
	return copy ? value_text((struct text){copy, (uint32_t)size}) : (struct value){0};
}

static struct value list_of_json(struct render *run, const json_t *json, uint32_t depth)
{
	uint32_t count = (uint32_t)json_array_size(json);
	struct value *items = render_take(run, count * sizeof *items);

	for (uint32_t i = 0; items && i < count; i++)
		items[i] = value_of_json(run, json_array_get(json, i), depth + 1);
	return items ? (struct value){.kind = VALUE_LIST, .count = count, .items = items}
		     : (struct value){0};
}

static struct value map_of_json(struct render *run, json_t *json, uint32_t depth)
{
	uint32_t count = (uint32_t)json_object_size(json), i = 0;
	struct member *members = render_take(run, count * sizeof *members);
	const char *name;
	size_t size;
	json_t *value;

	if (!members)
		return (struct value){0};
	json_object_keylen_foreach(json, name, size, value)
	{
		members[i].name = value_copy(run, name, size).text;
		members[i++].value = value_of_json(run, value, depth + 1);
	}
	if (run->failed)
		return (struct value){0};
	value_sort_members(members, count);
	return (struct value){.kind = VALUE_MAP, .count = count, .members = members};
}

struct value value_of_json(struct render *run, const json_t *json, uint32_t depth)
{
	if (depth > VALUE_DEPTH_MAX)
		return render_fail(
			run, run->at, "the JSON is nested more than %u deep", VALUE_DEPTH_MAX);
	switch (json_typeof(json)) {
	case JSON_OBJECT: return map_of_json(run, (json_t *)json, depth);
	case JSON_ARRAY: return list_of_json(run, json, depth);
	case JSON_STRING: return value_copy(run, json_string_value(json), json_string_length(json));
	case JSON_INTEGER: return value_int(json_integer_value(json));
	case JSON_REAL: return value_float(json_real_value(json));
	case JSON_TRUE:
	case JSON_FALSE: return value_bool(json_is_true(json));
	default: return (struct value){0};
	}
}
