// Evaluates filters on items.
#include "placement/constraint/regexp.h"
#include "tools/forms/filter_terms.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

// NULL when the item has no such member.
static const json_t *select_member(const struct filter_term *term, const json_t *item)
{
	for (uint32_t i = 0; i < term->part_count && item; i++)
		item = json_object_get(item, term->parts[i]);
	return item;
}

static bool equals_number(const json_t *number, const char *text)
{
	char *end;
	errno = 0;
	if (json_is_integer(number)) {
		long long whole = strtoll(text, &end, 10);
		if (*text && !*end && !errno)
			return whole == json_integer_value(number);
	}
	errno = 0;
	double value = strtod(text, &end);
	return *text && !*end && !errno && value == json_number_value(number);
}

static bool equals(const json_t *value, const char *text)
{
	switch (json_typeof(value)) {
	case JSON_STRING: return strcmp(json_string_value(value), text) == 0;
	case JSON_INTEGER:
	case JSON_REAL: return equals_number(value, text);
	case JSON_TRUE: return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	case JSON_FALSE: return strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
	case JSON_NULL: return strcmp(text, "null") == 0;
	case JSON_OBJECT:
	case JSON_ARRAY: break;
	}
	return false;
}

static bool value_contains(const json_t *value, const char *text)
{
	if (json_is_string(value))
		return strstr(json_string_value(value), text) != NULL;
	if (json_is_object(value))
		return json_object_get(value, text) != NULL;
	for (size_t i = 0; i < json_array_size(value); i++)
		if (equals(json_array_get(value, i), text))
			return true;
	return false;
}

static bool is_empty(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING: return !*json_string_value(value);
	case JSON_OBJECT: return json_object_size(value) == 0;
	case JSON_ARRAY: return json_array_size(value) == 0;
	case JSON_NULL: return true;
	default: return false;
	}
}

static bool term_matches(const json_t *value, const void *program)
{
	if (json_is_string(value))
		return regexp_test(json_string_value(value), NULL, program);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (term_matches(json_array_get(value, i), program))
			return true;
	return false;
}

static bool compare_values(const struct filter_term *term, const json_t *value)
{
	if (!value)
		return term->kind == FILTER_EMPTY;
	switch (term->kind) {
	case FILTER_EQUAL: return equals(value, term->value);
	case FILTER_CONTAINS: return value_contains(value, term->value);
	case FILTER_EMPTY: return is_empty(value);
	case FILTER_MATCHES: return term_matches(value, term->program);
	default: return false;
	}
}

// Recurses at most as deep as there are terms.
static bool fits(const struct filter *filter, uint32_t number, const json_t *item)
{
	const struct filter_term *term = &filter->terms[number];
	switch (term->kind) {
	case FILTER_AND: return fits(filter, term->left, item) && fits(filter, term->right, item);
	case FILTER_OR: return fits(filter, term->left, item) || fits(filter, term->right, item);
	case FILTER_NOT: return !fits(filter, term->left, item);
	default: return compare_values(term, select_member(term, item)) != term->negated;
	}
}

bool filter_fits(const struct filter *filter, const json_t *item)
{
	return fits(filter, filter->root, item);
}

bool filter_wants(const struct filter *filter, const char *name, size_t size)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];
		if (term->part_count && strncmp(term->parts[0], name, size) == 0 &&
			!term->parts[0][size])
			return true;
	}
	return false;
}

const char *filter_find_unknown(const struct filter *filter,
	bool (*is_known)(const char *name, void *context), void *context)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];
		if (term->part_count && !is_known(term->parts[0], context))
			return term->parts[0];
	}
	return NULL;
}
