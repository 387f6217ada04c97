// Functions of numbers. Of two, the second one comes first, so that a pipe can bring the first: 5 | subtract 2 is 3.
#include "tools/template/functions.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOP_MAX 100000

// A copy that ends; false: it is too long for a number, or has a NUL.
static bool number_text_of(struct call *call, char digits[static 64])
{
	struct text t = argument_text(call, 0);
	bool fits = t.size > 0 && t.size < 64 && !memchr(t.data, 0, t.size);

	snprintf(digits, 64, "%.*s", fits ? (int)t.size : 0, fits ? t.data : "");
	return fits;
}

static struct value no_number(struct call *call)
{
	struct text t = argument_text(call, 0);
	if (t.size == 0) // consul-template reads nothing as nothing
		return value_int(0);
	return function_fail(
		call, "\"%.*s\" is not what it reads", (int)(t.size < 64 ? t.size : 64), t.data);
}

struct value tf_parse_int(struct call *call)
{
	char digits[64], *end;
	bool fits = number_text_of(call, digits);

	errno = 0;
	long long integer = strtoll(digits, &end, 10);
	return fits && !*end && !errno ? value_int(integer) : no_number(call);
}

struct value tf_parse_uint(struct call *call)
{
	struct value v = tf_parse_int(call);
	return v.kind == VALUE_INT && v.integer < 0 ? function_fail(call, "it is less than 0") : v;
}

struct value tf_parse_float(struct call *call)
{
	char digits[64], *end;
	bool fits = number_text_of(call, digits);
	double real = strtod(digits, &end);

	if (fits && !*end && isfinite(real))
		return value_float(real);
	struct value v = no_number(call);
	return v.kind == VALUE_INT ? value_float(0) : v;
}

struct value tf_parse_bool(struct call *call)
{
	static const char *const words[] = {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F",
		"FALSE", "false", "False", "", NULL};
	struct text t = argument_text(call, 0);

	for (uint32_t i = 0; words[i]; i++)
		if (text_equal(t, text_of(words[i])))
			return value_bool(i < 6);
	return no_number(call);
}

enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, MINIMUM, MAXIMUM };

static struct value compute_ints(struct call *call, enum operation what, int64_t a, int64_t b)
{
	int64_t result = 0;
	bool overflows = false;

	if ((what == DIVIDE || what == MODULO) && b == 0)
		return function_fail(call, "division by 0");
	switch (what) {
	case ADD: overflows = __builtin_add_overflow(a, b, &result); break;
	case SUBTRACT: overflows = __builtin_sub_overflow(a, b, &result); break;
	case MULTIPLY: overflows = __builtin_mul_overflow(a, b, &result); break;
	case DIVIDE:
		overflows = a == INT64_MIN && b == -1;
		result = overflows ? 0 : a / b;
		break;
	case MODULO: result = b == -1 ? 0 : a % b; break;
	case MINIMUM: result = a < b ? a : b; break;
	case MAXIMUM: result = a > b ? a : b; break;
	}
	return overflows ? function_fail(call, "the result has more than 64 bits")
			 : value_int(result);
}

static struct value compute_reals(struct call *call, enum operation what, double a, double b)
{
	double result = 0;

	switch (what) {
	case ADD: result = a + b; break;
	case SUBTRACT: result = a - b; break;
	case MULTIPLY: result = a * b; break;
	case DIVIDE: result = a / b; break;
	case MODULO: return function_fail(call, "it is of integers alone");
	case MINIMUM: result = a < b ? a : b; break;
	case MAXIMUM: result = a > b ? a : b; break;
	}
	return isfinite(result) ? value_float(result)
				: function_fail(call, "the result is no number");
}

static struct value compute(struct call *call, enum operation what)
{
	struct value a = value_plain(call->args[1]), b = value_plain(call->args[0]);
	bool is_real = a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT;

	if ((a.kind != VALUE_INT && a.kind != VALUE_FLOAT) ||
		(b.kind != VALUE_INT && b.kind != VALUE_FLOAT))
		return function_fail(call, "%s and %s are no two numbers", value_kind_name(a.kind),
			value_kind_name(b.kind));
	if (!is_real)
		return compute_ints(call, what, a.integer, b.integer);
	return compute_reals(call, what, a.kind == VALUE_INT ? (double)a.integer : a.real,
		b.kind == VALUE_INT ? (double)b.integer : b.real);
}

struct value tf_add(struct call *call)
{
	return compute(call, ADD);
}

struct value tf_subtract(struct call *call)
{
	return compute(call, SUBTRACT);
}

struct value tf_multiply(struct call *call)
{
	return compute(call, MULTIPLY);
}

struct value tf_divide(struct call *call)
{
	return compute(call, DIVIDE);
}

struct value tf_modulo(struct call *call)
{
	return compute(call, MODULO);
}

struct value tf_minimum(struct call *call)
{
	return compute(call, MINIMUM);
}

struct value tf_maximum(struct call *call)
{
	return compute(call, MAXIMUM);
}

// loop 3: 0, 1, 2; loop 3 5: 3, 4.
struct value tf_loop(struct call *call)
{
	int64_t from = call->count > 1 ? argument_int(call, 0) : 0;
	int64_t to = argument_int(call, call->count - 1), count;

	if (__builtin_sub_overflow(to, from, &count) || count > LOOP_MAX)
		return function_fail(call, "more than %d times", LOOP_MAX);
	count = count > 0 ? count : 0;
	struct value *items = render_take(call->run, (size_t)count * sizeof *items);
	for (int64_t i = 0; items && i < count; i++)
		items[i] = value_int(from + i);
	return items ? (struct value){.kind = VALUE_LIST, .count = (uint32_t)count, .items = items}
		     : (struct value){0};
}
