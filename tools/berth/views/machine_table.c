#include "tools/berth/views/machine_table.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"

static void add_vm(json_t *vm, void *context)
{
	struct table *t = context;
	table_add(t, field_text(vm, "name"));
	table_add(t, field_text(vm, "status"));
	table_add(t, field_text(vm, "powerState"));
	table_add(t, field_or_dash(vm, "worker"));
	table_add_format(t, "%lld", (long long)field_number(vm, "restart_count"));
	table_add(t, field_text(vm, "image"));
	table_add(t, field_text(vm, "createdAt"));
}

enum exit_status machine_table(struct session *session, const char *path, uint32_t indent)
{
	static const char *const headings[] = {
		"Name", "Status", "Power", "Worker", "Restarts", "Image", "Created", NULL};
	struct table table;
	table_begin(&table, headings);
	return table_finish(&table, pages_each(session, path, add_vm, &table), indent);
}
