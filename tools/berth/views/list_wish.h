// What the flags ask of a list.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/views/list_column.h"

enum list_output {
	LIST_TABLE,
	LIST_WIDE,
	LIST_JSON,
	LIST_CSV,
	LIST_NAME,
	LIST_TEMPLATE,
};

struct list_wish {
	enum list_output output;
	const char *template;
	const struct list_column *columns[TABLE_COLUMNS_MAX];
	uint32_t column_count;
	const struct list_column *sort; // NULL: as the controller sends
	bool is_descending;
	uint64_t limit; // 0: all
	bool has_whole_ids, has_totals;
};

// A column by its heading, whatever its letters' size, with or without dashes; NULL: there is none.
const struct list_column *list_column_find(const struct list *, const char *name, size_t size);
// Complains of what the list cannot do.
enum exit_status list_wish_read(const struct flags *, const struct list *, struct list_wish *);
// The path with what --filter and --status ask for. Caller frees *whole.
enum exit_status list_wish_path(const struct flags *, const struct list *, const struct list_wish *,
	const char *path, char **whole);
