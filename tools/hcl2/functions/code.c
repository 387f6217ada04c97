// Texts as other texts: base64, escapes of addresses, rows of values with commas.
#include "tools/hcl2/functions/functions.h"
#include <glib.h>

static const struct hcl2_value *fn_base64encode(struct call *call)
{
	struct text text = call_text(call, 0);
	char *encoded = g_base64_encode((const guchar *)text.data, text.size);
	struct text copy = hcl2_copy(call->run, text_of(encoded));
	g_free(encoded);
	return value_string(call->run, copy);
}

// Whether it is whole groups of four of the alphabet, with padding at the end alone.
static bool is_base64(struct text text)
{
	uint32_t size = text.size;
	while (size > 0 && text.size - size < 2 && text.data[size - 1] == '=')
		size--;
	for (uint32_t i = 0; i < size; i++)
		if (!g_ascii_isalnum(text.data[i]) && text.data[i] != '+' && text.data[i] != '/')
			return false;
	return text.size % 4 == 0;
}

static const struct hcl2_value *fn_base64decode(struct call *call)
{
	struct text text = call_text(call, 0);
	struct writer w = {.run = call->run};
	gsize size;
	for (uint32_t i = 0; i < text.size; i++)
		if (text.data[i] != '\n' && text.data[i] != '\r')
			write_char(&w, text.data[i]);
	text = writer_text(&w);
	if (!is_base64(text))
		return call_failed(call, "this is not base64");
	guchar *decoded = g_base64_decode(text.data, &size);
	struct text copy = hcl2_copy(call->run, (struct text){(char *)decoded, (uint32_t)size});
	g_free(decoded);
	if (!g_utf8_validate(copy.data, copy.size, NULL))
		return call_failed(call, "what it encodes is not UTF-8 text");
	return value_string(call->run, copy);
}

static const struct hcl2_value *fn_urlencode(struct call *call)
{
	static const char digits[] = "0123456789ABCDEF";
	struct text text = call_text(call, 0);
	struct writer w = {.run = call->run};
	for (uint32_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (g_ascii_isalnum((char)c) || (c && strchr("-_.~", c))) {
			write_char(&w, (char)c);
		} else if (c == ' ') {
			write_char(&w, '+');
		} else {
			write_char(&w, '%');
			write_char(&w, digits[c >> 4]);
			write_char(&w, digits[c & 15]);
		}
	}
	return call_written(call, &w);
}

struct rows {
	struct call *call;
	struct text rest;
	uint32_t line;
};

static bool at_line_end(const struct rows *rows)
{
	return !rows->rest.size || *rows->rest.data == '\n' ||
	       (rows->rest.size > 1 && rows->rest.data[0] == '\r' && rows->rest.data[1] == '\n');
}

static void skip_byte(struct rows *rows)
{
	rows->line += *rows->rest.data == '\n';
	rows->rest.data++;
	rows->rest.size--;
}

static bool read_quoted(struct rows *rows, struct writer *w)
{
	skip_byte(rows);
	while (rows->rest.size) {
		char c = *rows->rest.data;
		skip_byte(rows);
		if (c != '"') {
			if (c != '\r' || !rows->rest.size || *rows->rest.data != '\n')
				write_char(w, c);
			continue;
		}
		if (!rows->rest.size || *rows->rest.data != '"')
			return at_line_end(rows) || *rows->rest.data == ',';
		write_char(w, '"');
		skip_byte(rows);
	}
	return false;
}

static bool read_field(struct rows *rows, struct text *field)
{
	struct writer w = {.run = rows->call->run};
	if (rows->rest.size && *rows->rest.data == '"') {
		if (!read_quoted(rows, &w)) {
			call_failed(rows->call, "a quote is wrong on line %u", rows->line);
			return false;
		}
	} else {
		for (; !at_line_end(rows) && *rows->rest.data != ','; skip_byte(rows)) {
			if (*rows->rest.data == '"') {
				call_failed(rows->call, "a quote is wrong on line %u", rows->line);
				return false;
			}
			write_char(&w, *rows->rest.data);
		}
	}
	*field = writer_text(&w);
	return true;
}

// Reads one row that is not empty. False at the end, or after a failure, which sets the problem.
static bool read_row(struct rows *rows, struct members *row)
{
	row->count = 0;
	while (rows->rest.size && at_line_end(rows))
		skip_byte(rows);
	if (!rows->rest.size)
		return false;
	for (;;) {
		struct text field;
		if (!read_field(rows, &field) ||
			!hcl2_step(rows->call->run, (struct hcl2_range){0}))
			return false;
		members_put(rows->call->run, row, (struct text){0},
			value_string(rows->call->run, field));
		if (at_line_end(rows))
			break;
		skip_byte(rows);
	}
	while (rows->rest.size && *rows->rest.data != '\n')
		skip_byte(rows);
	if (rows->rest.size)
		skip_byte(rows);
	return true;
}

static const struct hcl2_value *row_object(
	struct call *call, const struct members *header, const struct members *row)
{
	struct members members = {0};
	for (uint32_t i = 0; i < header->count; i++)
		members_put(call->run, &members, header->items[i]->string, row->items[i]);
	return members_object(call->run, &members);
}

static const struct hcl2_value *fn_csvdecode(struct call *call)
{
	struct rows rows = {call, call_text(call, 0), 1};
	struct members header = {0}, row = {0}, list = {0};
	call->problem = NULL;
	if (!read_row(&rows, &header))
		return call->problem ? NULL : call_failed(call, "there is no line of names");
	const struct hcl2_value *named = row_object(call, &header, &header);
	if (named->count < header.count)
		return call_failed(call, "a column's name is there twice");
	while (read_row(&rows, &row)) {
		if (row.count != header.count)
			return call_failed(call, "line %u has %u values, not %u", rows.line - 1,
				row.count, header.count);
		members_put(call->run, &list, (struct text){0}, row_object(call, &header, &row));
		row = (struct members){0};
	}
	if (call->problem)
		return NULL;
	return value_collection(call->run, type_of_elements(call->run, HCL2_LIST, named->type),
		list.items, NULL, list.count);
}

const struct function code_functions[] = {
	{"base64decode", "s", fn_base64decode},
	{"base64encode", "s", fn_base64encode},
	{"csvdecode", "s", fn_csvdecode},
	{"urlencode", "s", fn_urlencode},
	{0},
};
