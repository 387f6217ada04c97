#include "tools/berth/views/allocation_table.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"
#include <stdio.h>
#include <string.h>

struct allocation_filter {
	struct table table;
	const char *status;
};

static void add_allocation(json_t *a, void *context)
{
	struct allocation_filter *filter = context;
	char id[16], node[16], age[32];
	if (filter->status && strcmp(field_text(a, "ClientStatus"), filter->status) != 0)
		return;
	struct table *t = &filter->table;
	table_add(t, field_short(field_text(a, "ID"), id));
	table_add(t, field_text(a, "Name"));
	table_add(t, field_short(field_text(a, "NodeID"), node));
	table_add(t, field_text(a, "NodeName"));
	table_add(t, field_text(a, "DesiredStatus"));
	table_add(t, field_text(a, "ClientStatus"));
	table_add(t, field_age(field_number(a, "CreateTime"), age));
}

enum exit_status allocation_table(struct session *session, const char *path, const char *title,
	const char *status, uint32_t indent)
{
	static const char *const headings[] = {
		"ID", "Name", "Node ID", "Node", "Desired", "Status", "Created", NULL};
	struct allocation_filter filter = {.status = status};
	table_begin(&filter.table, headings);
	enum exit_status result = pages_each(session, path, add_allocation, &filter);
	if (title && result == STATUS_OK)
		fputs(title, stdout);
	return table_finish(&filter.table, result, indent);
}
