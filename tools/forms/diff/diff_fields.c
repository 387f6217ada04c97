#include "tools/forms/diff/diff_fields.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_BYTES 512u

void flat_add(struct flat *flat, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	struct string_pair *pair = array_append(&flat->values, sizeof *pair);
	*pair = (struct string_pair){text_copy(text_of(name)), text_copy(text_of(value))};
}

static void add_number(struct flat *flat, const char *name, int64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, value);
	flat_add(flat, name, text);
}

static void add_map(struct flat *flat, const char *name, const struct array *map)
{
	for (uint32_t i = 0; i < map->count; i++) {
		const struct string_pair *pair = ARRAY_AT(map, struct string_pair, i);
		char path[NAME_BYTES];
		snprintf(path, sizeof path, "%s[%s]", name, pair->name ? pair->name : "");
		flat_add(flat, path, pair->value);
	}
}

bool field_is_scalar(const struct field *f)
{
	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_I64:
	case FIELD_U64:
	case FIELD_F64:
	case FIELD_STRING:
	case FIELD_ENUM:
	case FIELD_UUID:
	case FIELD_MAP:
	case FIELD_OPTIONAL_I64:
	case FIELD_OPTIONAL_BOOL:
	case FIELD_FIXED: return true;
	default: return false;
	}
}

static void add_optional(struct flat *flat, const struct field *f, const void *at)
{
	const struct optional_i64 *number = at;
	const struct optional_bool *flag = at;
	if (f->kind == FIELD_OPTIONAL_I64 && number->set)
		add_number(flat, f->name, number->value);
	if (f->kind == FIELD_OPTIONAL_BOOL && flag->set)
		flat_add(flat, f->name, flag->value ? "true" : "false");
}

static void add_scalar(struct flat *flat, const struct field *f, const void *at)
{
	char text[UUID_TEXT_BYTES];
	switch (f->kind) {
	case FIELD_BOOL: flat_add(flat, f->name, *(const bool *)at ? "true" : "false"); break;
	case FIELD_I64:
	case FIELD_U64: add_number(flat, f->name, *(const int64_t *)at); break;
	case FIELD_F64:
		snprintf(text, sizeof text, "%.15g", *(const double *)at);
		flat_add(flat, f->name, text);
		break;
	case FIELD_STRING: flat_add(flat, f->name, *(char *const *)at); break;
	case FIELD_ENUM: flat_add(flat, f->name, f->names[*(const int *)at]); break;
	case FIELD_UUID:
		flat_add(flat, f->name, uuid_is_zero(at) ? "" : uuid_format(at, text));
		break;
	case FIELD_MAP: add_map(flat, f->name, at); break;
	case FIELD_FIXED: // only fixed numbers tell something
		if (f->names[0][0] >= '0' && f->names[0][0] <= '9')
			flat_add(flat, f->name, f->names[0]);
		break;
	default: add_optional(flat, f, at); break;
	}
}

void flat_record(
	struct flat *flat, const struct record_type *type, const void *record, const char *without)
{
	for (uint32_t i = 0; record && i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		bool shown = !(f->flags & (FIELD_DERIVED | FIELD_HIDDEN)) &&
			     !(without && strcmp(without, f->name) == 0);
		if (shown && field_is_scalar(f))
			add_scalar(flat, f, (const char *)record + f->offset);
	}
}

static void add_leaf(struct flat *flat, const char *path, const json_t *value)
{
	char *text;
	if (json_is_string(value)) {
		flat_add(flat, path, json_string_value(value));
	} else if (!json_is_null(value)) {
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
		CHECK(text);
		flat_add(flat, path, text);
		free(text);
	}
}

// Depth is bounded by the reader of the job (JSON_DEPTH_MAX).
static void add_json(struct flat *flat, const char *path, json_t *value)
{
	char inner[NAME_BYTES];
	const char *name;
	size_t i;
	json_t *part;
	if (json_is_object(value)) {
		json_object_foreach(value, name, part)
		{
			snprintf(inner, sizeof inner, *path ? "%s[%s]" : "%s%s", path, name);
			add_json(flat, inner, part);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, part)
		{
			snprintf(inner, sizeof inner, "%s[%zu]", path, i);
			add_json(flat, inner, part);
		}
	} else {
		add_leaf(flat, path, value);
	}
}

void flat_json(struct flat *flat, const char *json)
{
	json_t *value = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
	if (value)
		add_json(flat, "", value);
	json_decref(value);
}

void flat_free(struct flat *flat)
{
	for (uint32_t i = 0; i < flat->values.count; i++) {
		struct string_pair *pair = ARRAY_AT(&flat->values, struct string_pair, i);
		free(pair->name);
		free(pair->value);
	}
	free(flat->values.items);
	*flat = (struct flat){0};
}

static int by_name(const void *a, const void *b)
{
	const struct string_pair *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->value, y->value);
}

static void sort_values(struct flat *flat)
{
	if (flat->values.count)
		qsort(flat->values.items, flat->values.count, sizeof(struct string_pair), by_name);
}

static struct string_pair *at(const struct flat *flat, uint32_t i)
{
	return i < flat->values.count ? ARRAY_AT(&flat->values, struct string_pair, i) : NULL;
}

static void add_diff(struct array *fields, const struct string_pair *before,
	const struct string_pair *after, bool context)
{
	bool same = before && after && strcmp(before->value, after->value) == 0;
	if (same && !context)
		return;
	struct field_diff *diff = array_append(fields, sizeof *diff);
	diff->type = same ? DIFF_NONE : !before ? DIFF_ADDED : !after ? DIFF_DELETED : DIFF_EDITED;
	diff->name = text_copy(text_of((before ? before : after)->name));
	diff->before = before ? text_copy(text_of(before->value)) : NULL;
	diff->after = after ? text_copy(text_of(after->value)) : NULL;
}

void fields_compare(struct flat *before, struct flat *after, bool context, struct array *fields)
{
	uint32_t i = 0, k = 0;
	sort_values(before);
	sort_values(after);
	while (at(before, i) || at(after, k)) {
		const struct string_pair *x = at(before, i), *y = at(after, k);
		int order = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
		add_diff(fields, order <= 0 ? x : NULL, order >= 0 ? y : NULL, context);
		i += order <= 0;
		k += order >= 0;
	}
	flat_free(before);
	flat_free(after);
}

int fields_type(const struct array *fields)
{
	bool seen[DIFF_EDITED + 1] = {false};
	for (uint32_t i = 0; i < fields->count; i++)
		seen[ARRAY_AT(fields, struct field_diff, i)->type] = true;
	if (seen[DIFF_EDITED] || (seen[DIFF_ADDED] && seen[DIFF_DELETED]))
		return DIFF_EDITED;
	return seen[DIFF_ADDED] ? DIFF_ADDED : seen[DIFF_DELETED] ? DIFF_DELETED : DIFF_NONE;
}
