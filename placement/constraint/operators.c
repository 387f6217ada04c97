#include "placement/constraint/operators.h"
#include "placement/constraint/regexp.h"
#include "placement/constraint/version.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool test_equal(const char *left, const char *right, const void *program)
{
	return left && right && strcmp(left, right) == 0;
}

static bool test_not_equal(const char *left, const char *right, const void *program)
{
	if (!left || !right)
		return left != right;
	return strcmp(left, right) != 0;
}

static bool parse_integer(const char *text, long long *value)
{
	const char *digits = text + (*text == '-' || *text == '+');
	if (*digits == 0 || strspn(digits, "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*value = strtoll(text, NULL, 10);
	return errno == 0;
}

static bool parse_float(const char *text, double *value)
{
	// strtod would skip blanks and take "nan(…)"; Go's parser, whose rule this is, takes neither.
	if (*text == 0 || strchr(" \t\n\v\f\r", *text) || strchr(text, '('))
		return false;
	char *end;
	errno = 0;
	*value = strtod(text, &end);
	return *end == 0 && !(errno == ERANGE && isinf(*value));
}

// Integers if both are, else floating point if both are, else bytewise. 0: not ordered (not a number).
static int order_of(const char *left, const char *right)
{
	long long il, ir;
	if (parse_integer(left, &il) && parse_integer(right, &ir))
		return il < ir ? ORDER_LESS : il > ir ? ORDER_GREATER : ORDER_EQUAL;
	double fl, fr;
	if (parse_float(left, &fl) && parse_float(right, &fr))
		return fl < fr ? ORDER_LESS : fl > fr ? ORDER_GREATER : fl == fr ? ORDER_EQUAL : 0;
	int order = strcmp(left, right);
	return order < 0 ? ORDER_LESS : order > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

static bool test_less(const char *left, const char *right, const void *program)
{
	return left && right && order_of(left, right) == ORDER_LESS;
}
static bool test_less_or_equal(const char *left, const char *right, const void *program)
{
	return left && right && (order_of(left, right) & (ORDER_LESS | ORDER_EQUAL));
}
static bool test_greater(const char *left, const char *right, const void *program)
{
	return left && right && order_of(left, right) == ORDER_GREATER;
}
static bool test_greater_or_equal(const char *left, const char *right, const void *program)
{
	return left && right && (order_of(left, right) & (ORDER_GREATER | ORDER_EQUAL));
}

static bool test_is_set(const char *left, const char *right, const void *program)
{
	return left;
}
static bool test_is_not_set(const char *left, const char *right, const void *program)
{
	return !left;
}

static struct text trim_blanks(struct text t)
{
	while (t.size > 0 && strchr(" \t\n\v\f\r", t.data[0]))
		t.data++, t.size--;
	while (t.size > 0 && strchr(" \t\n\v\f\r", t.data[t.size - 1]))
		t.size--;
	return t;
}

// The next item of a comma list; *list becomes NULL after the last one.
static struct text next_item(const char **list)
{
	const char *comma = strchr(*list, ',');
	struct text item = comma ? (struct text){*list, (uint32_t)(comma - *list)} : text_of(*list);
	*list = comma ? comma + 1 : NULL;
	return trim_blanks(item);
}

static bool list_has(const char *list, struct text wanted)
{
	while (list)
		if (text_equal(next_item(&list), wanted))
			return true;
	return false;
}

static bool test_contains_all(const char *left, const char *right, const void *program)
{
	if (!left || !right)
		return false;
	while (right)
		if (!list_has(left, next_item(&right)))
			return false;
	return true;
}

static bool test_contains_any(const char *left, const char *right, const void *program)
{
	while (left && right)
		if (list_has(left, next_item(&right)))
			return true;
	return false;
}

static void *loose_compile(const char *right, struct constraint_error *error)
{
	return version_conditions_parse(right, VERSION_LOOSE, error);
}
static void *semver_compile(const char *right, struct constraint_error *error)
{
	return version_conditions_parse(right, VERSION_SEMVER, error);
}
static bool test_version(const char *left, const char *right, const void *program)
{
	return left && version_satisfies(program, left);
}
static void version_release(void *program)
{
	version_conditions_free(program);
}

// Validation, placement and error texts read this table: a new operator is one row.
static const struct constraint_operator operators[] = {
	{"=", true, test_equal, .accepts = ORDER_EQUAL},
	{"==", true, test_equal, .accepts = ORDER_EQUAL},
	{"is", true, test_equal, .accepts = ORDER_EQUAL},
	{"!=", true, test_not_equal, .accepts = ORDER_LESS | ORDER_GREATER},
	{"not", true, test_not_equal, .accepts = ORDER_LESS | ORDER_GREATER},
	{"<", true, test_less, .accepts = ORDER_LESS},
	{"<=", true, test_less_or_equal, .accepts = ORDER_LESS | ORDER_EQUAL},
	{">", true, test_greater, .accepts = ORDER_GREATER},
	{">=", true, test_greater_or_equal, .accepts = ORDER_GREATER | ORDER_EQUAL},
	{"is_set", false, test_is_set},
	{"is_not_set", false, test_is_not_set},
	{"regexp", true, regexp_test, regexp_compile, regexp_release, .searches = true},
	{"version", true, test_version, loose_compile, version_release},
	{"semver", true, test_version, semver_compile, version_release},
	{"set_contains", true, test_contains_all},
	{"set_contains_all", true, test_contains_all},
	{"set_contains_any", true, test_contains_any},
};
#define OPERATORS (sizeof operators / sizeof operators[0])

const struct constraint_operator *operator_find(const char *name)
{
	for (uint32_t i = 0; i < OPERATORS; i++)
		if (strcmp(operators[i].name, name) == 0)
			return &operators[i];
	return NULL;
}

char *operator_names(char *buffer, size_t size)
{
	size_t at = 0;
	buffer[0] = 0;
	for (uint32_t i = 0; i < OPERATORS && at < size; i++) {
		int wrote =
			snprintf(buffer + at, size - at, "%s%s", i ? ", " : "", operators[i].name);
		at += wrote > 0 ? (size_t)wrote : 0;
	}
	return buffer;
}
