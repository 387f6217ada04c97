// Reads long lists page by page.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/berth/cli/table.h"

// Prints the table after the whole list was read, else frees it. Returns the status.
enum exit_status table_finish(struct table *, enum exit_status, uint32_t indent);

typedef void pages_visit(json_t *item, void *context);

// Calls back for each item of a list until it says that it has enough. path may have a query already; page: the items
// that are asked for at once, 0: as many as is good.
typedef bool pages_take(json_t *item, void *context);
enum exit_status pages_until(
	struct session *, const char *path, uint32_t page, pages_take *, void *context);
// The same for all items.
enum exit_status pages_each(struct session *, const char *path, pages_visit *, void *context);
