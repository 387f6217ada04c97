#include "tools/berth/cli/table.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/berth/cli/terminal.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define GAP 2u

static void sanitize(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

static void add_owned(struct table *t, char *text)
{
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : 64;
		t->cells = memory_resize(t->cells, t->capacity * sizeof t->cells[0]);
	}
	sanitize(text);
	t->cells[t->count++] = text;
}

void table_begin(struct table *t, const char *const *headings)
{
	*t = (struct table){.has_headings = true};
	for (; headings[t->columns]; t->columns++)
		table_add(t, headings[t->columns]);
	CHECK(t->columns <= TABLE_COLUMNS_MAX);
}

void table_begin_pairs(struct table *t)
{
	*t = (struct table){.columns = 2};
}

void table_add(struct table *t, const char *text)
{
	add_owned(t, text_copy(text_of(text)));
}

__attribute__((format(printf, 2, 0))) static void add_arguments(
	struct table *t, const char *format, va_list arguments)
{
	char *text;
	CHECK(vasprintf(&text, format, arguments) >= 0);
	add_owned(t, text);
}

void table_add_format(struct table *t, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	add_arguments(t, format, arguments);
	va_end(arguments);
}

void table_pair(struct table *t, const char *name, const char *format, ...)
{
	table_add(t, name);
	va_list arguments;
	va_start(arguments, format);
	add_arguments(t, format, arguments);
	va_end(arguments);
}

// Counts characters, not bytes: the first bytes of UTF-8 sequences.
static uint32_t width(const char *text)
{
	uint32_t characters = 0;
	for (; *text; text++)
		characters += ((unsigned char)*text & 0xc0) != 0x80;
	return characters;
}

static void put_cell(const struct table *t, uint32_t i, bool has_colours)
{
	const char *colour = "";
	if (has_colours && t->has_headings && i < t->columns)
		colour = TERMINAL_BOLD;
	else if (has_colours && t->is_status >> i % t->columns & 1)
		colour = terminal_colour_of(t->cells[i]);
	printf("%s%s%s", colour, t->cells[i], *colour ? TERMINAL_PLAIN : "");
}

void table_print(struct table *t, uint32_t indent)
{
	bool has_colours = terminal_has_colours();
	uint32_t widths[TABLE_COLUMNS_MAX] = {0};
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t w = width(t->cells[i]);
		if (w > widths[i % t->columns])
			widths[i % t->columns] = w;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t column = i % t->columns;
		bool last = column + 1 == t->columns;
		if (column == 0)
			printf("%*s", (int)indent, "");
		uint32_t pad = last ? 0 : widths[column] - width(t->cells[i]) + GAP;
		put_cell(t, i, has_colours);
		printf("%*s%s", (int)pad, "", last ? "\n" : "");
	}
	table_free(t);
}

void table_free(struct table *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){0};
}
