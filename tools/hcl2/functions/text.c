// Functions of texts.
#include "state/base/check.h"
#include "tools/hcl2/functions/functions.h"
#include <glib.h>
#include <stdlib.h>

static const struct hcl2_value *map_characters(struct call *call, gunichar map(gunichar))
{
	struct text text = call_text(call, 0);
	struct writer w = {.run = call->run};
	for (uint32_t i = 0; i < text.size;) {
		char utf8[8];
		gunichar c = map(g_utf8_get_char(text.data + i));
		write_text(&w, (struct text){utf8, (uint32_t)g_unichar_to_utf8(c, utf8)});
		i += (uint32_t)(g_utf8_next_char(text.data + i) - (text.data + i));
	}
	return call_written(call, &w);
}

static const struct hcl2_value *fn_upper(struct call *call)
{
	return map_characters(call, g_unichar_toupper);
}

static const struct hcl2_value *fn_lower(struct call *call)
{
	return map_characters(call, g_unichar_tolower);
}

// Where letters and digits end, words end; other signs of ASCII but "_" end one too, and blanks.
static bool separates(gunichar c)
{
	if (c < 0x80)
		return !g_ascii_isalnum((char)c) && c != '_';
	return !g_unichar_isalnum(c) && g_unichar_isspace(c);
}

static const struct hcl2_value *fn_title(struct call *call)
{
	struct text text = call_text(call, 0);
	struct writer w = {.run = call->run};
	gunichar before = ' ';
	for (uint32_t i = 0; i < text.size;) {
		char utf8[8];
		gunichar c = g_utf8_get_char(text.data + i);
		gunichar shown = separates(before) ? g_unichar_totitle(c) : c;
		write_text(&w, (struct text){utf8, (uint32_t)g_unichar_to_utf8(shown, utf8)});
		i += (uint32_t)(g_utf8_next_char(text.data + i) - (text.data + i));
		before = c;
	}
	return call_written(call, &w);
}

static const struct hcl2_value *fn_strlen(struct call *call)
{
	return value_int(call->run, grapheme_count(call_text(call, 0)));
}

static const struct hcl2_value *fn_reverse(struct call *call)
{
	struct text rest = call_text(call, 0);
	char *data = hcl2_take(call->run, rest.size + 1), *to = data + rest.size;
	uint32_t size = rest.size;
	for (uint32_t bytes; rest.size; rest.data += bytes, rest.size -= bytes) {
		bytes = grapheme_bytes(rest);
		to -= bytes;
		memcpy(to, rest.data, bytes);
	}
	return value_string(call->run, (struct text){data, size});
}

static struct text skip_characters(struct text text, int64_t count)
{
	for (; count > 0 && text.size; count--) {
		uint32_t bytes = grapheme_bytes(text);
		text.data += bytes;
		text.size -= bytes;
	}
	return text;
}

static const struct hcl2_value *fn_substr(struct call *call)
{
	int64_t offset, length;
	struct text text = call_text(call, 0);
	if (!call_int(call, 1, INT32_MIN, INT32_MAX, &offset) ||
		!call_int(call, 2, INT32_MIN, INT32_MAX, &length))
		return NULL;
	if (offset >= 0 && length == 0)
		return value_string(call->run, TEXT(""));
	if (offset < 0)
		offset += grapheme_count(text);
	text = skip_characters(text, offset);
	if (length > 0)
		text.size -= skip_characters(text, length).size;
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_join(struct call *call)
{
	struct writer w = {.run = call->run};
	bool first = true;
	for (uint32_t i = 1; i < call->count; i++)
		for (uint32_t j = 0; j < call->arguments[i]->count; j++) {
			const struct hcl2_value *item = call->arguments[i]->items[j];
			if (item->is_null)
				return call_wrong(call, (int)i, "element %u is null", j);
			if (!first)
				write_text(&w, call_text(call, 0));
			first = false;
			write_text(&w, item->string);
		}
	if (call->count < 2)
		return call_failed(call, "at least one list is required");
	return call_written(call, &w);
}

static void put_string(struct call *call, struct members *list, struct text text)
{
	members_put(call->run, list, (struct text){0}, value_string(call->run, text));
}

// Where it begins; NULL: nowhere.
static const char *find_text(struct text in, struct text what)
{
	CHECK(in.data && what.data);
	return memmem(in.data, in.size, what.data, what.size);
}

static const struct hcl2_value *fn_split(struct call *call)
{
	struct text separator = call_text(call, 0), rest = call_text(call, 1);
	struct members list = {0};
	while (rest.size && !separator.size) {
		uint32_t bytes = text_utf8_bytes(rest);
		bytes += !bytes;
		put_string(call, &list, (struct text){rest.data, bytes});
		rest.data += bytes;
		rest.size -= bytes;
	}
	for (const char *found; separator.size;) {
		found = find_text(rest, separator);
		uint32_t size = found ? (uint32_t)(found - rest.data) : rest.size;
		put_string(call, &list, (struct text){rest.data, size});
		if (!found)
			break;
		rest.data += size + separator.size;
		rest.size -= size + separator.size;
	}
	return call_strings(call, list.items, list.count);
}

static const struct hcl2_value *fn_replace(struct call *call)
{
	struct text rest = call_text(call, 0), what = call_text(call, 1), by = call_text(call, 2);
	struct writer w = {.run = call->run};
	while (!w.overflow) {
		const char *found = what.size ? find_text(rest, what) : rest.data;
		if (!found)
			break;
		write_text(&w, (struct text){rest.data, (uint32_t)(found - rest.data)});
		write_text(&w, by);
		rest.size -= (uint32_t)(found - rest.data) + what.size;
		rest.data = found + what.size;
		if (what.size)
			continue;
		// Nothing is found before each character, and at the end.
		if (!rest.size)
			break;
		uint32_t bytes = text_utf8_bytes(rest);
		bytes += !bytes;
		write_text(&w, (struct text){rest.data, bytes});
		rest.data += bytes;
		rest.size -= bytes;
	}
	write_text(&w, rest);
	return call_written(call, &w);
}

static bool is_of(struct text set, const char *c)
{
	uint32_t bytes = (uint32_t)(g_utf8_next_char(c) - c);
	return set.size >= bytes && memmem(set.data, set.size, c, bytes);
}

static const struct hcl2_value *fn_trim(struct call *call)
{
	struct text text = call_text(call, 0), set = call_text(call, 1);
	while (text.size && is_of(set, text.data)) {
		uint32_t bytes = (uint32_t)(g_utf8_next_char(text.data) - text.data);
		text.data += bytes;
		text.size -= bytes;
	}
	while (text.size) {
		const char *last = g_utf8_prev_char(text.data + text.size);
		if (!is_of(set, last))
			break;
		text.size = (uint32_t)(last - text.data);
	}
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_trimspace(struct call *call)
{
	struct text text = call_text(call, 0);
	while (text.size && g_unichar_isspace(g_utf8_get_char(text.data))) {
		uint32_t bytes = (uint32_t)(g_utf8_next_char(text.data) - text.data);
		text.data += bytes;
		text.size -= bytes;
	}
	while (text.size) {
		const char *last = g_utf8_prev_char(text.data + text.size);
		if (!g_unichar_isspace(g_utf8_get_char(last)))
			break;
		text.size = (uint32_t)(last - text.data);
	}
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_trimprefix(struct call *call)
{
	struct text text = call_text(call, 0), prefix = call_text(call, 1);
	if (text.size >= prefix.size && !memcmp(text.data, prefix.data, prefix.size)) {
		text.data += prefix.size;
		text.size -= prefix.size;
	}
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_trimsuffix(struct call *call)
{
	struct text text = call_text(call, 0), suffix = call_text(call, 1);
	if (text.size >= suffix.size &&
		!memcmp(text.data + text.size - suffix.size, suffix.data, suffix.size))
		text.size -= suffix.size;
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_chomp(struct call *call)
{
	struct text text = call_text(call, 0);
	while (text.size && strchr("\r\n", text.data[text.size - 1]))
		text.size--;
	return value_string(call->run, text);
}

static const struct hcl2_value *fn_indent(struct call *call)
{
	struct text text = call_text(call, 1);
	struct writer w = {.run = call->run};
	int64_t spaces;
	if (!call_int(call, 0, 0, HCL2_STRING_BYTES_MAX, &spaces))
		return NULL;
	for (uint32_t i = 0; i < text.size && !w.overflow; i++) {
		write_char(&w, text.data[i]);
		for (int64_t n = 0; text.data[i] == '\n' && n < spaces && !w.overflow; n++)
			write_char(&w, ' ');
	}
	return call_written(call, &w);
}

const struct function text_functions[] = {
	{"chomp", "s", fn_chomp},
	{"indent", "ns", fn_indent},
	{"join", "sl*", fn_join},
	{"lower", "s", fn_lower},
	{"replace", "sss", fn_replace},
	{"reverse", "s", fn_reverse},
	{"split", "ss", fn_split},
	{"strlen", "s", fn_strlen},
	{"strrev", "s", fn_reverse},
	{"substr", "snn", fn_substr},
	{"title", "s", fn_title},
	{"trim", "ss", fn_trim},
	{"trimprefix", "ss", fn_trimprefix},
	{"trimspace", "s", fn_trimspace},
	{"trimsuffix", "ss", fn_trimsuffix},
	{"upper", "s", fn_upper},
	{0},
};
