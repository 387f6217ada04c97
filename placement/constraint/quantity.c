#include "placement/constraint/quantity.h"
#include "state/base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum dimension { DIMENSION_NONE, BYTES, BYTES_PER_SECOND, HERTZ, WATTS };

#define K 1e3
#define KI 1024.0

// Longer names first, so that "MiB/s" is not read as "s" after text.
static const struct unit {
	const char *name;
	enum dimension dimension;
	double factor;
} units[] = {
	{"KiB/s", BYTES_PER_SECOND, KI},
	{"MiB/s", BYTES_PER_SECOND, KI *KI},
	{"GiB/s", BYTES_PER_SECOND, KI *KI *KI},
	{"TiB/s", BYTES_PER_SECOND, KI *KI *KI *KI},
	{"PiB/s", BYTES_PER_SECOND, KI *KI *KI *KI *KI},
	{"EiB/s", BYTES_PER_SECOND, KI *KI *KI *KI *KI *KI},
	{"kB/s", BYTES_PER_SECOND, K},
	{"KB/s", BYTES_PER_SECOND, K},
	{"MB/s", BYTES_PER_SECOND, K *K},
	{"GB/s", BYTES_PER_SECOND, K *K *K},
	{"TB/s", BYTES_PER_SECOND, K *K *K *K},
	{"PB/s", BYTES_PER_SECOND, K *K *K *K *K},
	{"EB/s", BYTES_PER_SECOND, K *K *K *K *K *K},
	{"KiB", BYTES, KI},
	{"MiB", BYTES, KI *KI},
	{"GiB", BYTES, KI *KI *KI},
	{"TiB", BYTES, KI *KI *KI *KI},
	{"PiB", BYTES, KI *KI *KI *KI *KI},
	{"EiB", BYTES, KI *KI *KI *KI *KI *KI},
	{"MHz", HERTZ, K *K},
	{"GHz", HERTZ, K *K *K},
	{"kB", BYTES, K},
	{"KB", BYTES, K},
	{"MB", BYTES, K *K},
	{"GB", BYTES, K *K *K},
	{"TB", BYTES, K *K *K *K},
	{"PB", BYTES, K *K *K *K *K},
	{"EB", BYTES, K *K *K *K *K *K},
	{"mW", WATTS, 1e-3},
	{"kW", WATTS, K},
	{"MW", WATTS, K *K},
	{"GW", WATTS, K *K *K},
	{"W", WATTS, 1},
};

enum value_kind { VALUE_TEXT, VALUE_TRUTH, VALUE_NUMBER };

struct value {
	enum value_kind kind;
	enum dimension dimension;
	const char *text;
	bool truth, is_whole;
	long long whole;
	double number; // in units of its dimension
};

static const struct unit *unit_of(struct text text)
{
	for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		uint32_t size = (uint32_t)strlen(units[i].name);
		if (text.size > size &&
			memcmp(text.data + text.size - size, units[i].name, size) == 0)
			return &units[i];
	}
	return NULL;
}

#define NUMBER_BYTES_MAX 63u

// The whole text must be a number as Go writes it: no blanks around, no "nan".
static bool parse_number(struct text text, struct value *value)
{
	char copy[NUMBER_BYTES_MAX + 1], *end;
	if (text.size == 0 || text.size > NUMBER_BYTES_MAX)
		return false;
	memcpy(copy, text.data, text.size);
	copy[text.size] = 0;
	errno = 0;
	value->whole = strtoll(copy, &end, 10);
	value->is_whole = *end == 0 && errno == 0;
	errno = 0;
	value->number = strtod(copy, &end);
	return *end == 0 && !(errno == ERANGE && isinf(value->number));
}

static bool begins_with(const char *text, const char *any)
{
	return text[0] && strchr(any, text[0]);
}

static bool parse_truth(const char *text, bool *truth)
{
	static const char *const words[2][6] = {{"0", "f", "F", "FALSE", "false", "False"},
		{"1", "t", "T", "TRUE", "true", "True"}};
	for (uint32_t i = 0; i < 12; i++)
		if (strcmp(words[i / 6][i % 6], text) == 0) {
			*truth = i / 6;
			return true;
		}
	return false;
}

// A number and maybe its unit.
static bool parse_quantity(struct text text, struct value *value)
{
	const struct unit *unit = unit_of(text);
	if (unit) {
		text.size -= (uint32_t)strlen(unit->name);
		while (text.size > 0 && text.data[text.size - 1] == ' ')
			text.size--;
	}
	if (!parse_number(text, value))
		return false;
	value->dimension = unit ? unit->dimension : DIMENSION_NONE;
	value->is_whole &= !unit;
	value->number *= unit ? unit->factor : 1;
	return true;
}

static struct value parse(const char *string)
{
	struct value value = {.kind = VALUE_TEXT, .text = string};
	// Most values are names, whose first letter tells it.
	if (begins_with(string, "+-.0123456789") && parse_quantity(text_of(string), &value))
		value.kind = VALUE_NUMBER;
	else if (begins_with(string, "01fFtT") && parse_truth(string, &value.truth))
		value.kind = VALUE_TRUTH;
	return value;
}

static uint8_t order_of_sign(int sign)
{
	return sign < 0 ? ORDER_LESS : sign > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

static uint8_t order_of_numbers(const struct value *l, const struct value *r)
{
	if (l->is_whole && r->is_whole)
		return order_of_sign((l->whole > r->whole) - (l->whole < r->whole));
	return order_of_sign((l->number > r->number) - (l->number < r->number));
}

uint8_t quantity_order(const char *left, const char *right)
{
	struct value l = parse(left), r = parse(right);
	if (l.kind != r.kind || l.dimension != r.dimension)
		return 0;
	if (l.kind == VALUE_NUMBER)
		return order_of_numbers(&l, &r);
	if (l.kind == VALUE_TRUTH)
		return l.truth == r.truth ? ORDER_EQUAL : ORDER_GREATER;
	return order_of_sign(strcmp(left, right));
}
