// Lists of the API, printed as the flags ask: which items, which of their columns, in which order and form.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/berth/views/list_column.h"

// path may have a query already.
enum exit_status list_print(struct session *, const struct list *, const char *path);
// The same of items that are here already: those of another answer, or made of one.
enum exit_status list_print_items(struct session *, const struct list *, json_t *items);
// A part of a larger page: a table as these flags say (NULL: as none do), not those of the command line.
enum exit_status list_part(struct session *, const struct list *, const struct flags *,
	const char *path, const char *title, uint32_t indent);
