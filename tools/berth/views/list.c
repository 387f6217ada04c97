#include "tools/berth/views/list.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/views/list_line.h"
#include "tools/berth/views/list_value.h"
#include "tools/berth/views/list_wish.h"
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX 5000u

struct list_row {
	char *line, *key;
	double number;
	uint32_t place; // among what came
};

struct printing {
	const struct list *list;
	struct list_wish wish;
	struct list_row *rows; // those of a list that is sorted, and of every table
	uint32_t count, capacity, came;
	json_t *totals; // counts by text
	bool is_cut;    // by --limit
};

static bool is_table(const struct list_wish *wish)
{
	return wish->output == LIST_TABLE || wish->output == LIST_WIDE;
}

static void count_item(struct printing *p, json_t *item)
{
	struct list_value value;
	if (!p->wish.has_totals || !is_table(&p->wish) || !p->list->totals)
		return;
	list_value_read(
		list_column_find(p->list, p->list->totals, strlen(p->list->totals)), item, &value);
	json_int_t before = json_integer_value(json_object_get(p->totals, value.text));
	json_object_set_new(p->totals, value.text, json_integer(before + 1));
}

static void keep_item(struct printing *p, json_t *item)
{
	struct list_value value = {.text = ""};
	size_t size;
	p->rows = memory_one_more(p->rows, p->count, &p->capacity, sizeof p->rows[0]);
	struct list_row *row = &p->rows[p->count];
	*row = (struct list_row){.place = p->count++};
	FILE *line = open_memstream(&row->line, &size);
	CHECK(line);
	list_line_put(line, p->list, &p->wish, item);
	CHECK(fclose(line) == 0);
	if (!p->wish.sort)
		return;
	list_value_read(p->wish.sort, item, &value);
	row->key = text_copy(text_of(value.text));
	row->number = value.number;
}

static bool take_item(json_t *item, void *context)
{
	struct printing *p = context;
	bool has_enough = p->wish.limit && !p->wish.sort && p->came == p->wish.limit;
	if (has_enough) {
		p->is_cut = true;
		return false;
	}
	count_item(p, item);
	if (p->wish.sort || is_table(&p->wish)) {
		keep_item(p, item);
	} else {
		fputs(p->came && p->wish.output == LIST_JSON ? "," : "", stdout);
		list_line_put(stdout, p->list, &p->wish, item);
	}
	p->came++;
	return true;
}

static bool is_by_number(const struct list_column *column)
{
	return column->form == LIST_NUMBER || column->form == LIST_AGE;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct list_row *x = a, *y = b;
	const struct list_wish *wish = context;
	int order = is_by_number(wish->sort) ? (x->number > y->number) - (x->number < y->number)
					     : strverscmp(x->key, y->key);
	if (order == 0)
		return x->place < y->place ? -1 : 1;
	return wish->is_descending ? -order : order;
}

static void add_cells(struct table *table, char *line)
{
	for (char *end = strchr(line, '\x1f'); end; end = strchr(line, '\x1f')) {
		*end = '\0';
		table_add(table, line);
		line = end + 1;
	}
}

static void put_table(struct printing *p, const char *title, uint32_t indent)
{
	const char *headings[TABLE_COLUMNS_MAX + 1] = {NULL};
	struct table table;
	for (uint32_t i = 0; i < p->wish.column_count; i++)
		headings[i] = p->wish.columns[i]->heading;
	table_begin(&table, headings);
	for (uint32_t i = 0; i < p->wish.column_count; i++)
		table.is_status |= (uint32_t)(p->wish.columns[i]->form == LIST_STATUS) << i;
	for (uint32_t i = 0; i < p->count; i++)
		add_cells(&table, p->rows[i].line);
	fputs(title ? title : "", stdout);
	table_print(&table, indent);
}

static void put_lines(const struct printing *p)
{
	const char *between = p->wish.output == LIST_JSON ? "," : "";
	for (uint32_t i = 0; i < p->count; i++)
		printf("%s%s", i ? between : "", p->rows[i].line);
}

static void put_totals(const struct printing *p)
{
	const char *text, *between = ": ";
	json_t *count;
	printf("\n%u %s%s", p->came, p->list->noun, p->is_cut ? " of more" : "");
	json_object_foreach(p->totals, text, count)
	{
		printf("%s%" JSON_INTEGER_FORMAT " %s", between, json_integer_value(count), text);
		between = ", ";
	}
	putchar('\n');
}

static void put_all(struct printing *p, const char *title, uint32_t indent)
{
	if (p->wish.sort && p->count)
		qsort_r(p->rows, p->count, sizeof p->rows[0], compare_rows, &p->wish);
	while (p->wish.limit && p->count > p->wish.limit) {
		free(p->rows[--p->count].line);
		free(p->rows[p->count].key);
	}
	if (is_table(&p->wish))
		put_table(p, title, indent);
	else
		put_lines(p);
	if (p->wish.output == LIST_JSON)
		puts("]");
	if (p->wish.has_totals && is_table(&p->wish))
		put_totals(p);
}

static void begin(struct printing *p)
{
	p->totals = json_object();
	if (p->wish.output == LIST_CSV)
		list_line_headings(stdout, &p->wish);
	if (p->wish.output == LIST_JSON)
		putchar('[');
}

static void free_rows(struct printing *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		free(p->rows[i].line);
		free(p->rows[i].key);
	}
	free(p->rows);
	json_decref(p->totals);
}

static enum exit_status print_path(struct session *session, struct printing *p, const char *path,
	const char *title, uint32_t indent)
{
	bool ends_early = p->wish.limit && p->wish.limit < PAGE_MAX && !p->wish.sort;
	begin(p);
	enum exit_status result = pages_until(
		session, path, ends_early ? (uint32_t)p->wish.limit + 1 : 0, take_item, p);
	if (result == STATUS_OK)
		put_all(p, title, indent);
	free_rows(p);
	return result;
}

enum exit_status list_print(struct session *session, const struct list *list, const char *path)
{
	struct printing p = {.list = list};
	char *whole;
	enum exit_status result = list_wish_read(&session->flags, list, &p.wish);
	if (result == STATUS_OK)
		result = list_wish_path(&session->flags, list, &p.wish, path, &whole);
	if (result != STATUS_OK)
		return result;
	if (p.wish.output == LIST_JSON && !p.wish.sort && !p.wish.limit)
		result = http_get_through(session, whole);
	else
		result = print_path(session, &p, whole, NULL, 0);
	free(whole);
	return result;
}

enum exit_status list_print_items(struct session *session, const struct list *list, json_t *items)
{
	struct printing p = {.list = list};
	json_t *item;
	size_t i;
	enum exit_status result = list_wish_read(&session->flags, list, &p.wish);
	if (result != STATUS_OK)
		return result;
	if (p.wish.output == LIST_JSON && !p.wish.sort && !p.wish.limit) {
		field_print(items);
		return STATUS_OK;
	}
	begin(&p);
	json_array_foreach(items, i, item)
	{
		if (!take_item(item, &p))
			break;
	}
	put_all(&p, NULL, 0);
	free_rows(&p);
	return STATUS_OK;
}

enum exit_status list_part(struct session *session, const struct list *list,
	const struct flags *flags, const char *path, const char *title, uint32_t indent)
{
	static const struct flags none;
	struct printing p = {.list = list};
	enum exit_status result = list_wish_read(flags ? flags : &none, list, &p.wish);
	p.wish.has_totals = false;
	p.wish.has_whole_ids = flag_given(&session->flags, FLAG_VERBOSE);
	return result == STATUS_OK ? print_path(session, &p, path, title, indent) : result;
}
