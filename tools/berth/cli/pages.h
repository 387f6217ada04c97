// Reads long lists page by page.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/berth/cli/table.h"

// Prints the table after the whole list was read, else frees it. Returns the status.
enum exit_status table_finish(struct table *, enum exit_status, uint32_t indent);

typedef void pages_visit(json_t *item, void *context);

// Calls back for each item of a list. path may have a query already.
enum exit_status pages_each(struct session *, const char *path, pages_visit *, void *context);
