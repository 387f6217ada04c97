// Go's own functions.
#include "tools/template/functions.h"
#include <stdio.h>

// Not called: the renderer works out as many arguments as it takes.
struct value tf_and(struct call *call)
{
	return call->args[call->count - 1];
}

struct value tf_or(struct call *call)
{
	return call->args[call->count - 1];
}

struct value tf_not(struct call *call)
{
	return value_bool(!value_is_true(call->args[0]));
}

static bool is_number(struct value v)
{
	return v.kind == VALUE_INT || v.kind == VALUE_FLOAT;
}

static double number_of(struct value v)
{
	return v.kind == VALUE_INT ? (double)v.integer : v.real;
}

static bool are_equal(struct call *call, struct value a, struct value b)
{
	a = value_plain(a);
	b = value_plain(b);
	if (a.kind == VALUE_NIL || b.kind == VALUE_NIL)
		return a.kind == b.kind;
	if (a.kind == VALUE_INT && b.kind == VALUE_INT)
		return a.integer == b.integer;
	if (a.kind != b.kind && !(is_number(a) && is_number(b))) {
		function_fail(call, "incompatible types for comparison: %s and %s",
			value_kind_name(a.kind), value_kind_name(b.kind));
		return false;
	}
	if (is_number(a))
		return number_of(a) == number_of(b);
	if (a.kind == VALUE_BOOL)
		return a.truth == b.truth;
	if (a.kind == VALUE_TEXT)
		return render_step(call->run, a.text.size / 64) && text_equal(a.text, b.text);
	function_fail(call, "%s cannot be compared", value_kind_name(a.kind));
	return false;
}

struct value tf_eq(struct call *call)
{
	for (uint32_t i = 1; i < call->count; i++)
		if (are_equal(call, call->args[0], call->args[i]))
			return value_bool(true);
	return value_bool(false);
}

struct value tf_ne(struct call *call)
{
	return value_bool(!are_equal(call, call->args[0], call->args[1]));
}

// < 0, 0, > 0.
static int order_of(struct call *call)
{
	struct value a = value_plain(call->args[0]), b = value_plain(call->args[1]);

	if (a.kind == VALUE_INT && b.kind == VALUE_INT)
		return (a.integer > b.integer) - (a.integer < b.integer);
	if (is_number(a) && is_number(b))
		return (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
	if (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT) {
		uint32_t common = a.text.size < b.text.size ? a.text.size : b.text.size;
		int order = common ? memcmp(a.text.data, b.text.data, common) : 0;
		render_step(call->run, common / 64);
		return order ? order : (a.text.size > b.text.size) - (a.text.size < b.text.size);
	}
	function_fail(call, "incompatible types for comparison: %s and %s", value_kind_name(a.kind),
		value_kind_name(b.kind));
	return 0;
}

struct value tf_lt(struct call *call)
{
	return value_bool(order_of(call) < 0);
}

struct value tf_le(struct call *call)
{
	return value_bool(order_of(call) <= 0);
}

struct value tf_gt(struct call *call)
{
	return value_bool(order_of(call) > 0);
}

struct value tf_ge(struct call *call)
{
	return value_bool(order_of(call) >= 0);
}

struct value tf_len(struct call *call)
{
	struct value v = value_plain(call->args[0]);

	if (v.kind == VALUE_TEXT)
		return value_int(v.text.size);
	if (v.kind == VALUE_LIST || v.kind == VALUE_MAP)
		return value_int(v.count);
	return function_fail(call, "%s has no length", value_kind_name(v.kind));
}

static struct value index_one(struct call *call, struct value in, struct value key)
{
	bool has_texts = in.kind == VALUE_RECORD && in.record->has_texts;
	in = value_plain(in);
	key = value_plain(key);
	if (in.kind == VALUE_MAP && key.kind == VALUE_TEXT) {
		const struct value *found = value_member(in.members, in.count, key.text);
		return found ? *found : has_texts ? value_text(TEXT("")) : (struct value){0};
	}
	uint32_t size = in.kind == VALUE_TEXT ? in.text.size : in.count;
	if ((in.kind != VALUE_LIST && in.kind != VALUE_TEXT) || key.kind != VALUE_INT)
		return function_fail(call, "%s has no index that is %s", value_kind_name(in.kind),
			value_kind_name(key.kind));
	if (key.integer < 0 || key.integer >= size)
		return function_fail(call, "index %lld is out of range: there are %u",
			(long long)key.integer, size);
	return in.kind == VALUE_LIST ? in.items[key.integer]
				     : value_int((uint8_t)in.text.data[key.integer]);
}

struct value tf_index(struct call *call)
{
	struct value v = call->args[0];
	for (uint32_t i = 1; i < call->count && !call->run->failed; i++)
		v = index_one(call, v, call->args[i]);
	return v;
}

struct value tf_slice(struct call *call)
{
	struct value v = value_plain(call->args[0]);
	int64_t size = v.kind == VALUE_TEXT ? v.text.size : v.count;
	int64_t from = call->count > 1 ? argument_int(call, 1) : 0;
	int64_t to = call->count > 2 ? argument_int(call, 2) : size;

	if (v.kind != VALUE_TEXT && v.kind != VALUE_LIST)
		return function_fail(call, "%s has no parts", value_kind_name(v.kind));
	if (from < 0 || to < from || to > size)
		return function_fail(call, "%lld to %lld is out of range: there are %lld",
			(long long)from, (long long)to, (long long)size);
	if (v.kind == VALUE_TEXT)
		return value_text((struct text){v.text.data + from, (uint32_t)(to - from)});
	return (struct value){
		.kind = VALUE_LIST, .count = (uint32_t)(to - from), .items = v.items + from};
}

// Go puts a blank between two neighbours of which neither is a text.
struct value tf_print(struct call *call)
{
	struct bytes_writer w = bytes_writer_growing(64);
	for (uint32_t i = 0; i < call->count; i++) {
		bool apart = i > 0 && value_plain(call->args[i]).kind != VALUE_TEXT &&
			     value_plain(call->args[i - 1]).kind != VALUE_TEXT;
		bytes_put(&w, " ", apart);
		value_print(&w, call->args[i], 1);
	}
	return function_written(call, &w);
}

struct value tf_println(struct call *call)
{
	struct bytes_writer w = bytes_writer_growing(64);
	for (uint32_t i = 0; i < call->count; i++) {
		bytes_put(&w, " ", i > 0);
		value_print(&w, call->args[i], 1);
	}
	bytes_put(&w, "\n", 1);
	return function_written(call, &w);
}

struct value tf_printf(struct call *call)
{
	struct bytes_writer w = bytes_writer_growing(64);
	char message[200];

	if (!value_format(&w, argument_text(call, 0), call->args + 1, call->count - 1, message,
		    sizeof message))
		function_fail(call, "%s", message);
	return function_written(call, &w);
}
