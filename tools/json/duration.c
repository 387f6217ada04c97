#include "tools/json/duration.h"
#include "state/base/time_units.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"\xc2\xb5s", 1000}, // micro sign
	{"\xce\xbcs", 1000}, // Greek mu
	{"ms", NS_PER_MS},
	{"s", NS_PER_S},
	{"m", 60ll * NS_PER_S},
	{"h", 3600ll * NS_PER_S},
};

// Takes the longest unit that text begins with ("ms" before "m"); 0: none.
static int64_t unit_take(const char **text)
{
	int64_t ns = 0;
	size_t longest = 0;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t size = strlen(units[i].name);
		if (size > longest && strncmp(*text, units[i].name, size) == 0) {
			longest = size;
			ns = units[i].ns;
		}
	}
	*text += longest;
	return ns;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// Adds one number with its unit to *total.
static bool part_take(const char **text, int64_t *total)
{
	int64_t whole = 0;
	double fraction = 0, weight = 0.1;
	bool any = false;
	for (; is_digit(**text); ++*text, any = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
			__builtin_add_overflow(whole, **text - '0', &whole))
			return false;
	if (**text == '.')
		for (++*text; is_digit(**text); ++*text, any = true, weight /= 10)
			fraction += (**text - '0') * weight;
	int64_t unit = any ? unit_take(text) : 0;
	if (!unit || __builtin_mul_overflow(whole, unit, &whole))
		return false;
	return !__builtin_add_overflow(whole, (int64_t)(fraction * (double)unit + 0.5), &whole) &&
	       !__builtin_add_overflow(*total, whole, total);
}

bool duration_parse(const char *text, int64_t *ns)
{
	bool negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	int64_t total = 0;
	if (strcmp(text, "0") == 0) {
		*ns = 0;
		return true;
	}
	if (!*text)
		return false;
	while (*text)
		if (!part_take(&text, &total))
			return false;
	*ns = negative ? -total : total;
	return true;
}

// The fraction without the zeros behind it: 9 digits at most, with their point.
static void fraction_format(uint64_t part, uint64_t of, char text[static 12])
{
	char digits[12];
	size_t size = 0;
	for (; of > 1 && part > 0; part %= of) {
		of /= 10;
		digits[size++] = (char)('0' + part / of);
	}
	digits[size] = '\0';
	snprintf(text, 12, "%s%s", size > 0 ? "." : "", digits);
}

// Less than a second, in the largest unit that leaves a whole number.
static void small_format(uint64_t ns, const char *sign, char text[static DURATION_TEXT_BYTES])
{
	uint64_t unit = ns < 1000 ? 1 : ns < NS_PER_MS ? 1000 : NS_PER_MS;
	const char *name = unit == 1 ? "ns" : unit == 1000 ? "\xc2\xb5s" : "ms";
	char fraction[12];
	fraction_format(ns % unit, unit, fraction);
	snprintf(text, DURATION_TEXT_BYTES, "%s%lu%s%s", sign, ns / unit, fraction,
		ns == 0 ? "s" : name);
}

char *duration_format(int64_t ns, char text[static DURATION_TEXT_BYTES])
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, s = size / NS_PER_S;
	char fraction[12];
	if (size < NS_PER_S) {
		small_format(size, sign, text);
		return text;
	}
	fraction_format(size % NS_PER_S, NS_PER_S, fraction);
	if (s >= 3600)
		snprintf(text, DURATION_TEXT_BYTES, "%s%luh%lum%lu%ss", sign, s / 3600, s / 60 % 60,
			s % 60, fraction);
	else if (s >= 60)
		snprintf(text, DURATION_TEXT_BYTES, "%s%lum%lu%ss", sign, s / 60, s % 60, fraction);
	else
		snprintf(text, DURATION_TEXT_BYTES, "%s%lu%ss", sign, s, fraction);
	return text;
}
