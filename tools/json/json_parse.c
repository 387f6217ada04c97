#include "state/base/limits.h"
#include "tools/json/json_reader.h"
#include <stdio.h>

struct position {
	uint32_t line, column;
};

// Finds the first bracket that nests deeper than allowed, without recursion. False when there is one.
static bool depth_is_bounded(const char *data, size_t size, struct position *at)
{
	uint32_t depth = 0;
	bool quoted = false;
	*at = (struct position){1, 0};
	for (size_t i = 0; i < size; i++) {
		char c = data[i];
		at->column++;
		if (c == '\n') {
			at->line++;
			at->column = 0;
		}
		if (quoted) {
			if (c == '\\') {
				i++;
				at->column++;
			} else if (c == '"') {
				quoted = false;
			}
		} else if (c == '"') {
			quoted = true;
		} else if (c == '{' || c == '[') {
			if (++depth > JSON_DEPTH_MAX)
				return false;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		}
	}
	return true;
}

json_t *json_parse(const char *data, size_t size, char *message, size_t message_size)
{
	if (size == 0) {
		snprintf(message, message_size, "the body is empty; a JSON object is expected");
		return NULL;
	}
	struct position at;
	if (!depth_is_bounded(data, size, &at)) {
		snprintf(message, message_size, "line %u column %u: nested deeper than %u levels",
			at.line, at.column, JSON_DEPTH_MAX);
		return NULL;
	}
	json_error_t error;
	json_t *value = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
	if (!value) {
		snprintf(message, message_size, "line %d column %d: %s", error.line, error.column,
			error.text);
		return NULL;
	}
	if (!json_is_object(value)) {
		snprintf(message, message_size, "line 1 column 1: a JSON object is expected");
		json_decref(value);
		return NULL;
	}
	return value;
}
