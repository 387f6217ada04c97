// What namespaces have to be, beside sound, when they are put.
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/table.h"

int namespace_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct job_namespace *n = e->record;
	struct text quota = text_of(n->quota);

	CHECK(e->kind == STATE_NAMESPACES);
	if (quota.size && !quota_cell_find(state, quota))
		return -ERROR_CORRUPT;
	return table_check(state, STATE_NAMESPACES, n);
}
