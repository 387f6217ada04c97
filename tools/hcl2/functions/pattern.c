// regex_replace(): "$1", "${1}" and "$name" in the replacement stand for what a group matched, "$$" for a dollar sign.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tools/hcl2/functions/functions.h"
#include <pcre2.h>
#include <stdlib.h>

#define MATCH_STEPS_MAX 1000000u

struct matching {
	struct call *call;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	struct text text;
};

static bool is_name_character(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

// The group's name behind a dollar sign. Its bytes in the replacement; 0: the dollar sign is one.
static uint32_t group_name(struct text rest, struct text *name)
{
	uint32_t size = 0;
	bool braces = rest.size && *rest.data == '{';
	if (rest.size && *rest.data == '$') {
		*name = (struct text){"", 0};
		return 1;
	}
	while (braces + size < rest.size && is_name_character(rest.data[braces + size]))
		size++;
	*name = (struct text){rest.data + braces, size};
	if (!size || (braces && (size + 1 >= rest.size || rest.data[size + 1] != '}')))
		return 0;
	return size + 2 * braces;
}

static int group_number(const struct matching *m, struct text name)
{
	char *end, *text = hcl2_print(m->call->run, "%.*s", (int)name.size, name.data);
	unsigned long number = strtoul(text, &end, 10);
	if (!*end)
		return number < pcre2_get_ovector_count(m->data) ? (int)number : -1;
	return pcre2_substring_number_from_name(m->code, (PCRE2_SPTR)text);
}

static void write_group(struct writer *w, const struct matching *m, struct text name)
{
	const size_t *at = pcre2_get_ovector_pointer(m->data);
	int number = group_number(m, name);
	if (number >= 0 && at[2 * number] != PCRE2_UNSET)
		write_text(w, (struct text){m->text.data + at[2 * number],
				      (uint32_t)(at[2 * number + 1] - at[2 * number])});
}

static void write_replacement(struct writer *w, const struct matching *m, struct text by)
{
	for (uint32_t i = 0; i < by.size && !w->overflow;) {
		struct text name;
		if (by.data[i] != '$') {
			write_char(w, by.data[i++]);
			continue;
		}
		i++;
		uint32_t used = group_name((struct text){by.data + i, by.size - i}, &name);
		if (used && name.size)
			write_group(w, m, name);
		else
			write_char(w, '$');
		i += used;
	}
}

// Goes on behind a character where nothing was matched.
static size_t copy_character(struct writer *w, struct text text, size_t at)
{
	struct text rest = {text.data + at, text.size - (uint32_t)at};
	uint32_t bytes = text_utf8_bytes(rest);
	bytes += !bytes;
	write_text(w, (struct text){rest.data, bytes});
	return at + bytes;
}

static const struct hcl2_value *replace_all(struct matching *m, struct text by)
{
	struct writer w = {.run = m->call->run};
	size_t at = 0, last_end = SIZE_MAX;
	while (at <= m->text.size && !w.overflow) {
		int found = pcre2_match(m->code, (PCRE2_SPTR)m->text.data, m->text.size, at,
			PCRE2_NO_UTF_CHECK, m->data, m->context);
		if (found == PCRE2_ERROR_NOMATCH)
			break;
		if (found < 0 || !hcl2_step(m->call->run, hcl2_range(m->call->node)))
			return call_failed(m->call, "the pattern takes too long to match");
		const size_t *span = pcre2_get_ovector_pointer(m->data);
		write_text(&w, (struct text){m->text.data + at, (uint32_t)(span[0] - at)});
		if (span[1] > span[0] || span[0] != last_end)
			write_replacement(&w, m, by);
		at = last_end = span[1];
		if (span[1] == span[0]) {
			if (at == m->text.size)
				break;
			at = copy_character(&w, m->text, at);
		}
	}
	if (at < m->text.size)
		write_text(&w, (struct text){m->text.data + at, m->text.size - (uint32_t)at});
	return call_written(m->call, &w);
}

static const struct hcl2_value *fn_regex_replace(struct call *call)
{
	int error;
	size_t offset;
	struct text pattern = call_text(call, 1);
	struct matching m = {.call = call, .text = call_text(call, 0)};
	m.code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.size,
		PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY, &error, &offset, NULL);
	if (!m.code) {
		PCRE2_UCHAR message[128];
		pcre2_get_error_message(error, message, sizeof message);
		return call_failed(call, "the pattern is wrong: %s", (char *)message);
	}
	m.data = pcre2_match_data_create_from_pattern(m.code, NULL);
	m.context = pcre2_match_context_create(NULL);
	const struct hcl2_value *result = call_failed(call, "memory is exhausted");
	if (m.data && m.context) {
		pcre2_set_match_limit(m.context, MATCH_STEPS_MAX);
		result = replace_all(&m, call_text(call, 2));
	}
	pcre2_match_context_free(m.context);
	pcre2_match_data_free(m.data);
	pcre2_code_free(m.code);
	return result;
}

const struct function pattern_functions[] = {
	{"regex_replace", "sss", fn_regex_replace},
	{0},
};
