#include "tools/berth/views/list_line.h"
#include "tools/berth/views/list_value.h"
#include <string.h>

// RFC 4180: quotes around what has a comma, a quote or a line break, and quotes in it doubled.
static void put_csv(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

// Names come from untrusted agents, and lines go to terminals.
static void put_printable(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

void list_line_headings(FILE *out, const struct list_wish *wish)
{
	for (uint32_t i = 0; i < wish->column_count; i++) {
		fputs(i ? "," : "", out);
		put_csv(out, wish->columns[i]->heading);
	}
	fputc('\n', out);
}

static void put_csv_line(FILE *out, const struct list_wish *wish, json_t *item)
{
	struct list_value value;
	for (uint32_t i = 0; i < wish->column_count; i++) {
		fputs(i ? "," : "", out);
		list_value_read(wish->columns[i], item, &value);
		put_csv(out, value.text);
	}
}

// {node-id} is a column, {NodeResources.Cpu.CpuShares} a member.
static void put_named(
	FILE *out, const struct list *list, const char *name, size_t size, json_t *item)
{
	struct list_value value;
	char path[LIST_ROOM_BYTES];
	snprintf(path, sizeof path, "%.*s", (int)size, name);
	const struct list_column *column = list_column_find(list, name, size);
	json_t *member = column ? NULL : list_member(item, path);
	if (json_is_object(member) || json_is_array(member)) {
		json_dumpf(member, out, JSON_COMPACT);
		return;
	}
	const struct list_column of_member = {.member = path};
	list_value_read(column ? column : &of_member, item, &value);
	put_printable(out, value.text);
}

static char escaped_character(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

static void put_template(FILE *out, const struct list *list, const char *at, json_t *item)
{
	while (*at) {
		size_t name = *at == '{' ? strcspn(at + 1, "}") : 0;
		if (at[0] == '\\' && at[1]) {
			fputc(escaped_character(at[1]), out);
			at += 2;
		} else if (*at == '{' && at[1 + name] == '}') {
			put_named(out, list, at + 1, name, item);
			at += name + 2;
		} else {
			fputc(*at++, out);
		}
	}
}

void list_line_put(FILE *out, const struct list *list, const struct list_wish *wish, json_t *item)
{
	struct list_value value;
	switch (wish->output) {
	case LIST_CSV: put_csv_line(out, wish, item); break;
	case LIST_JSON: json_dumpf(item, out, JSON_COMPACT); return;
	case LIST_TEMPLATE: put_template(out, list, wish->template, item); break;
	case LIST_NAME:
		list_value_read(
			list_column_find(list, list->name, strlen(list->name)), item, &value);
		put_printable(out, value.text);
		break;
	case LIST_TABLE:
	case LIST_WIDE:
		for (uint32_t i = 0; i < wish->column_count; i++) {
			char room[LIST_ROOM_BYTES];
			list_value_read(wish->columns[i], item, &value);
			put_printable(out, list_value_shown(wish->columns[i], &value,
						   wish->has_whole_ids, room));
			fputc('\x1f', out);
		}
		return;
	}
	fputc('\n', out);
}
