#include "tools/berth/views/list_wish.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/suggest.h"
#include "tools/berth/cli/terminal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether a heading is named so: letters and digits count.
static bool is_heading(const char *heading, const char *name, size_t size)
{
	const char *end = name + size;
	for (;; heading++, name++) {
		while (*heading == ' ')
			heading++;
		while (name < end && strchr(" -_", *name))
			name++;
		if (!*heading || name == end)
			return !*heading && name == end;
		if (tolower((unsigned char)*heading) != tolower((unsigned char)*name))
			return false;
	}
}

const struct list_column *list_column_find(const struct list *list, const char *name, size_t size)
{
	for (uint32_t i = 0; i < list->column_count; i++)
		if (is_heading(list->columns[i].heading, name, size))
			return &list->columns[i];
	return NULL;
}

// "Node ID" as it is written: node-id.
static void name_heading(const char *heading, char name[static 64])
{
	size_t i;
	for (i = 0; heading[i] && i + 1 < 64; i++)
		name[i] = heading[i] == ' ' ? '-' : (char)tolower((unsigned char)heading[i]);
	name[i] = '\0';
}

static enum exit_status no_column(
	const struct list *list, const char *flag, const char *name, size_t size)
{
	char names[TABLE_COLUMNS_MAX][64], all[800] = "", typed[64], hint[SUGGESTION_BYTES];
	snprintf(typed, sizeof typed, "%.*s", (int)size, name);
	struct suggestion near = {.typed = typed};
	size_t used = 0;
	for (uint32_t i = 0; i < list->column_count; i++) {
		name_heading(list->columns[i].heading, names[i]);
		suggestion_consider(&near, names[i]);
		int put = snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", names[i]);
		used += put > 0 && (size_t)put < sizeof all - used ? (size_t)put : 0;
	}
	return complain(STATUS_USAGE, "--%s: %s have no column \"%s\"%s (there are %s)", flag,
		list->noun, typed, suggestion_text(&near, hint), all);
}

static enum exit_status choose_columns(
	const struct list *list, const char *names, struct list_wish *wish)
{
	wish->column_count = 0;
	for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t size = strcspn(at, ",");
		const struct list_column *column = list_column_find(list, at, size);
		if (!column)
			return no_column(list, "columns", at, size);
		if (wish->column_count == TABLE_COLUMNS_MAX)
			return complain(
				STATUS_USAGE, "--columns: more than %u columns", TABLE_COLUMNS_MAX);
		wish->columns[wish->column_count++] = column;
	}
	return wish->column_count ? STATUS_OK
				  : complain(STATUS_USAGE, "--columns needs names of columns");
}

static void usual_columns(const struct list *list, struct list_wish *wish)
{
	bool all = wish->output == LIST_WIDE || wish->output == LIST_CSV;
	CHECK(list->column_count <= TABLE_COLUMNS_MAX);
	for (uint32_t i = 0; i < list->column_count; i++)
		if (all || !list->columns[i].is_wide)
			wish->columns[wish->column_count++] = &list->columns[i];
}

static enum exit_status choose_sort(
	const struct list *list, const char *name, struct list_wish *wish)
{
	if (!name)
		return STATUS_OK;
	wish->is_descending = *name == '-';
	name += wish->is_descending;
	wish->sort = list_column_find(list, name, strlen(name));
	return wish->sort ? STATUS_OK : no_column(list, "sort", name, strlen(name));
}

static enum exit_status choose_output(const struct flags *flags, struct list_wish *wish)
{
	static const struct {
		const char *word;
		enum list_output output;
	} outputs[] = {{"table", LIST_TABLE}, {"wide", LIST_WIDE}, {"json", LIST_JSON},
		{"csv", LIST_CSV}, {"name", LIST_NAME}};
	const char *given = flags->values[FLAG_OUTPUT];
	char hint[SUGGESTION_BYTES];
	wish->output = flag_given(flags, FLAG_JSON) ? LIST_JSON : LIST_TABLE;
	if (!given)
		return STATUS_OK;
	if (strchr(given, '{')) {
		wish->output = LIST_TEMPLATE;
		wish->template = given;
		return STATUS_OK;
	}
	struct suggestion near = {.typed = given};
	for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
		suggestion_consider(&near, outputs[i].word);
		if (strcmp(outputs[i].word, given) != 0)
			continue;
		wish->output = outputs[i].output;
		return STATUS_OK;
	}
	return complain(STATUS_USAGE,
		"--output %s: table, wide, json, csv and name are known, and templates like "
		"'{id} {status}'%s",
		given, suggestion_text(&near, hint));
}

enum exit_status list_wish_read(
	const struct flags *flags, const struct list *list, struct list_wish *wish)
{
	char message[256];
	const char *sort = flags->values[FLAG_SORT];
	*wish = (struct list_wish){0};
	enum exit_status result = choose_output(flags, wish);
	if (result == STATUS_OK && flag_given(flags, FLAG_COLUMNS))
		result = choose_columns(list, flags->values[FLAG_COLUMNS], wish);
	else
		usual_columns(list, wish);
	if (result == STATUS_OK)
		result = choose_sort(list, sort ? sort : list->sort, wish);
	if (result == STATUS_OK && !flag_number(flags, FLAG_LIMIT, 1, UINT32_MAX, &wish->limit,
					   message, sizeof message))
		result = complain(STATUS_USAGE, "%s", message);
	wish->has_whole_ids = wish->output != LIST_TABLE || flag_given(flags, FLAG_VERBOSE);
	wish->has_totals = flag_given(flags, FLAG_TOTALS) || terminal_is_output();
	return result;
}

static enum exit_status check_status(const struct list *list, const char *status)
{
	char all[400] = "", hint[SUGGESTION_BYTES];
	struct suggestion near = {.typed = status};
	size_t used = 0;
	for (size_t i = 0; list->statuses && list->statuses[i]; i++) {
		if (strcmp(list->statuses[i], status) == 0)
			return STATUS_OK;
		suggestion_consider(&near, list->statuses[i]);
		int put = snprintf(
			all + used, sizeof all - used, "%s%s", i ? ", " : "", list->statuses[i]);
		used += put > 0 && (size_t)put < sizeof all - used ? (size_t)put : 0;
	}
	return complain(STATUS_USAGE, "--status: %s are never \"%s\"%s (they are %s)", list->noun,
		status, suggestion_text(&near, hint), all);
}

// The expression of both flags. Caller frees; NULL: neither is given.
static char *expression_of(const struct flags *flags, const struct list *list)
{
	const char *filter = flags->values[FLAG_FILTER], *status = flags->values[FLAG_STATUS];
	char *text = NULL;
	if (filter && status)
		CHECK(asprintf(&text, "(%s) and %s == \"%s\"", filter, list->status, status) >= 0);
	else if (status)
		CHECK(asprintf(&text, "%s == \"%s\"", list->status, status) >= 0);
	else if (filter)
		CHECK(asprintf(&text, "%s", filter) >= 0);
	return text;
}

enum exit_status list_wish_path(const struct flags *flags, const struct list *list,
	const struct list_wish *wish, const char *path, char **whole)
{
	const char *status = flags->values[FLAG_STATUS];
	bool needs_all = wish->output != LIST_TABLE || flag_given(flags, FLAG_COLUMNS) ||
			 (wish->sort && wish->sort->is_wide);
	enum exit_status result = status ? check_status(list, status) : STATUS_OK;
	if (result != STATUS_OK)
		return result;
	char *expression = expression_of(flags, list), *escaped = NULL;
	if (expression) {
		size_t size = 3 * strlen(expression) + 4;
		escaped = memory_take(size);
		http_escape(expression, escaped, size);
	}
	CHECK(asprintf(whole, "%s%s%s%s%s", path, strchr(path, '?') ? "&" : "?",
		      needs_all && list->whole_query ? list->whole_query : "",
		      escaped ? "&filter=" : "", escaped ? escaped : "") >= 0);
	free(escaped);
	free(expression);
	return STATUS_OK;
}
