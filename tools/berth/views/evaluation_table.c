#include "tools/berth/views/evaluation_table.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/table.h"
#include <stdlib.h>

static int newest_first(const void *a, const void *b)
{
	int64_t x = field_number(*(json_t *const *)a, "CreateIndex");
	int64_t y = field_number(*(json_t *const *)b, "CreateIndex");
	return x < y ? 1 : x > y ? -1 : 0;
}

static void add_evaluation(struct table *t, json_t *e, bool whole_ids)
{
	char id[16];
	bool failed = json_object_size(json_object_get(e, "FailedTGAllocs")) > 0;
	table_add(t, whole_ids ? field_text(e, "ID") : field_short(field_text(e, "ID"), id));
	table_add_format(t, "%lld", (long long)field_number(e, "Priority"));
	table_add(t, field_text(e, "TriggeredBy"));
	table_add(t, field_text(e, "JobID"));
	table_add(t, field_text(e, "Status"));
	table_add(t, failed ? "true" : "false");
}

void evaluation_table_print(json_t *evaluations, bool whole_ids, uint32_t indent)
{
	static const char *const headings[] = {
		"ID", "Priority", "Triggered By", "Job ID", "Status", "Placement Failures", NULL};
	struct table t;
	size_t count = json_array_size(evaluations), i;
	json_t **sorted = memory_take_array(count + 1, sizeof sorted[0]), *one;
	json_array_foreach(evaluations, i, one) sorted[i] = one;
	if (count)
		qsort(sorted, count, sizeof sorted[0], newest_first);
	table_begin(&t, headings);
	for (i = 0; i < count; i++)
		add_evaluation(&t, sorted[i], whole_ids);
	table_print(&t, indent);
	free(sorted);
}
