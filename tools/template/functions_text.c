// Functions of texts. The text that a function works on comes last, so that a pipe can bring it.
#include "tools/template/functions.h"
#include <ctype.h>
#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>

#define INDENT_MAX 1000

typedef uint8_t *convert_case(const uint8_t *s, size_t n, const char *language, uninorm_t form,
	uint8_t *buffer, size_t *size);

static struct value in_case(struct call *call, convert_case *convert)
{
	struct text t = argument_text(call, 0);
	size_t size = 0;
	uint8_t *converted = convert((const uint8_t *)t.data, t.size, NULL, NULL, NULL, &size);

	if (!converted) // it is no UTF-8
		return call->args[0];
	struct value v = value_copy(call->run, (const char *)converted, size);
	free(converted);
	return v;
}

struct value tf_to_upper(struct call *call)
{
	return in_case(call, u8_toupper);
}

struct value tf_to_lower(struct call *call)
{
	return in_case(call, u8_tolower);
}

struct value tf_to_title(struct call *call)
{
	struct text t = argument_text(call, 0);
	struct bytes_writer w = bytes_writer_growing(t.size + 1);
	bool begins = true;

	for (uint32_t i = 0; i < t.size; i++) {
		uint8_t c = (uint8_t)t.data[i];
		bytes_put_u8(&w, begins ? (uint8_t)toupper(c) : c);
		begins = isspace(c);
	}
	return function_written(call, &w);
}

static struct text trim_text(struct text t, struct text set)
{
	for (; t.size && memchr(set.data, t.data[0], set.size); t.data++, t.size--)
		;
	for (; t.size && memchr(set.data, t.data[t.size - 1], set.size); t.size--)
		;
	return t;
}

struct value tf_trim(struct call *call)
{
	struct text set = argument_text(call, 0), t = argument_text(call, 1);
	return value_text(set.size ? trim_text(t, set) : t);
}

struct value tf_trim_space(struct call *call)
{
	return value_text(trim_text(argument_text(call, 0), TEXT(" \t\n\v\f\r")));
}

// Whether the text has this at a place within it.
static bool has_at(struct text t, uint32_t at, struct text part)
{
	return part.size <= t.size && text_equal((struct text){t.data + at, part.size}, part);
}

struct value tf_trim_prefix(struct call *call)
{
	struct text prefix = argument_text(call, 0), t = argument_text(call, 1);
	if (has_at(t, 0, prefix))
		t = (struct text){t.data + prefix.size, t.size - prefix.size};
	return value_text(t);
}

struct value tf_trim_suffix(struct call *call)
{
	struct text suffix = argument_text(call, 0), t = argument_text(call, 1);
	if (suffix.size <= t.size && has_at(t, t.size - suffix.size, suffix))
		t.size -= suffix.size;
	return value_text(t);
}

static const char *find_text(struct text in, struct text what)
{
	return in.data && what.data ? memmem(in.data, in.size, what.data, what.size) : NULL;
}

// The part up to the next separator; takes it and the separator off the rest. False: that was the last one. An empty
// separator stands between all characters.
static bool next_part(struct text *rest, struct text separator, struct text *part)
{
	if (separator.size == 0) {
		uint32_t bytes = text_utf8_bytes(*rest);
		bytes = bytes ? bytes : rest->size > 0;
		*part = (struct text){rest->data, bytes};
		*rest = (struct text){rest->data + bytes, rest->size - bytes};
		return rest->size > 0;
	}
	const char *found = find_text(*rest, separator);
	if (!found) {
		*part = *rest;
		return false;
	}
	uint32_t size = (uint32_t)(found - rest->data);
	*part = (struct text){rest->data, size};
	*rest = (struct text){found + separator.size, rest->size - size - separator.size};
	return true;
}

struct value tf_replace_all(struct call *call)
{
	struct text from = argument_text(call, 0), to = argument_text(call, 1),
		    rest = argument_text(call, 2);
	struct bytes_writer w = bytes_writer_growing(rest.size + 1);
	struct text part;

	for (bool more = true; more && w.size <= TEMPLATE_RESULT_BYTES_MAX;) {
		more = from.size ? next_part(&rest, from, &part) : false;
		if (!from.size)
			part = rest;
		bytes_put(&w, part.data, part.size);
		if (more)
			bytes_put(&w, to.data, to.size);
	}
	if (w.size > TEMPLATE_RESULT_BYTES_MAX)
		function_fail(
			call, "the result is longer than %u MiB", TEMPLATE_RESULT_BYTES_MAX >> 20);
	return function_written(call, &w);
}

static struct value split_text(struct call *call, struct text separator, struct text rest)
{
	struct text part, again = rest;
	uint32_t count = 1;

	if (rest.size == 0) // consul-template splits nothing into nothing
		return (struct value){.kind = VALUE_LIST};
	while (next_part(&again, separator, &part))
		count++;
	struct value *items = render_take(call->run, count * sizeof *items);
	for (uint32_t i = 0; items && i < count; i++) {
		next_part(&rest, separator, &part);
		items[i] = value_text(part);
	}
	return items ? (struct value){.kind = VALUE_LIST, .count = count, .items = items}
		     : (struct value){0};
}

struct value tf_split(struct call *call)
{
	struct text separator = argument_text(call, 0);
	return split_text(call, separator, argument_text(call, 1));
}

struct value tf_split_to_map(struct call *call)
{
	struct text of_items = argument_text(call, 0), of_keys = argument_text(call, 1), key;
	struct value parts = split_text(call, of_items, argument_text(call, 2));
	struct member *members = render_take(call->run, parts.count * sizeof *members);
	uint32_t count = 0;

	for (uint32_t i = 0; members && i < parts.count; i++) {
		struct text rest = parts.items[i].text;
		bool has_value = next_part(&rest, of_keys, &key);
		members[i] = (struct member){
			trim_text(key, TEXT(" ")), value_text(has_value ? rest : TEXT(""))};
	}
	if (!members)
		return (struct value){0};
	value_sort_members(members, parts.count);
	for (uint32_t i = 0; i < parts.count; i++) // of keys that are there twice, one
		if (count == 0 || !text_equal(members[count - 1].name, members[i].name))
			members[count++] = members[i];
	return (struct value){.kind = VALUE_MAP, .count = count, .members = members};
}

struct value tf_join(struct call *call)
{
	struct text separator = argument_text(call, 0);
	struct value list = argument_list(call, 1);
	struct bytes_writer w = bytes_writer_growing(64);

	for (uint32_t i = 0; i < list.count && w.size <= TEMPLATE_RESULT_BYTES_MAX; i++) {
		if (i > 0)
			bytes_put(&w, separator.data, separator.size);
		value_print(&w, list.items[i], 1);
	}
	if (w.size > TEMPLATE_RESULT_BYTES_MAX)
		function_fail(
			call, "the result is longer than %u MiB", TEMPLATE_RESULT_BYTES_MAX >> 20);
	return function_written(call, &w);
}

// Blanks before each line that has something.
struct value tf_indent(struct call *call)
{
	int64_t blanks = argument_int(call, 0);
	struct text rest = argument_text(call, 1), line;
	struct bytes_writer w = bytes_writer_growing(rest.size + 64);

	if (blanks < 0 || blanks > INDENT_MAX) {
		function_fail(call, "%lld blanks are less than 0 or more than %d",
			(long long)blanks, INDENT_MAX);
		blanks = 0;
	}
	for (bool more = true; more && w.size <= TEMPLATE_RESULT_BYTES_MAX;) {
		more = next_part(&rest, TEXT("\n"), &line);
		for (int64_t i = 0; i < blanks && line.size; i++)
			bytes_put_u8(&w, ' ');
		bytes_put(&w, line.data, line.size);
		bytes_put(&w, "\n", more);
	}
	return function_written(call, &w);
}

static bool value_holds(struct call *call, struct value whole, struct value part)
{
	whole = value_plain(whole);
	part = value_plain(part);
	if (whole.kind == VALUE_TEXT && part.kind == VALUE_TEXT)
		return render_step(call->run, whole.text.size / 64) &&
		       (part.text.size == 0 || find_text(whole.text, part.text));
	if (whole.kind != VALUE_LIST && whole.kind != VALUE_NIL)
		function_fail(call, "%s is no list and no text", value_kind_name(whole.kind));
	for (uint32_t i = 0; whole.kind == VALUE_LIST && i < whole.count; i++) {
		struct value item = value_plain(whole.items[i]);
		if (!render_step(call->run, 1))
			break;
		if (item.kind == part.kind &&
			(item.kind == VALUE_TEXT         ? text_equal(item.text, part.text)
				: item.kind == VALUE_INT ? item.integer == part.integer
							 : false))
			return true;
	}
	return false;
}

struct value tf_in(struct call *call)
{
	return value_bool(value_holds(call, call->args[0], call->args[1]));
}

struct value tf_contains(struct call *call)
{
	return value_bool(value_holds(call, call->args[1], call->args[0]));
}

static uint32_t count_held(struct call *call, uint32_t *wanted)
{
	struct value parts = argument_list(call, 0);
	uint32_t found = 0;
	for (uint32_t i = 0; i < parts.count; i++)
		found += value_holds(call, call->args[1], parts.items[i]);
	*wanted = parts.count;
	return found;
}

struct value tf_contains_all(struct call *call)
{
	uint32_t wanted;
	return value_bool(count_held(call, &wanted) == wanted);
}

struct value tf_contains_any(struct call *call)
{
	uint32_t wanted;
	return value_bool(count_held(call, &wanted) > 0);
}

struct value tf_contains_none(struct call *call)
{
	uint32_t wanted;
	return value_bool(count_held(call, &wanted) == 0);
}

struct value tf_contains_not_all(struct call *call)
{
	uint32_t wanted;
	uint32_t found = count_held(call, &wanted);
	return value_bool(found < wanted);
}
