#include "state/log/entry_gc.h"
#include <stdlib.h>

void entry_gc_code(struct coder *c, void *body)
{
	struct entry_gc *e = body;

	code_u8(c, &e->kind);
	if (e->kind == GC_JOB) {
		code_items(c, (void **)&e->job_index, &e->count, sizeof e->job_index[0],
			sizeof e->job_index[0]);
		for (uint32_t i = 0; i < e->count; i++)
			code_u64(c, &e->job_index[i]);
	} else {
		code_items(c, (void **)&e->ids, &e->count, sizeof e->ids[0], sizeof e->ids[0]);
		for (uint32_t i = 0; i < e->count; i++)
			code_uuid(c, &e->ids[i]);
	}
	coder_require(c, e->kind < GC_KINDS && e->count > 0 && e->count <= GC_ITEMS_MAX);
}

void entry_gc_release(void *body)
{
	struct entry_gc *e = body;

	free(e->ids);
	free(e->job_index);
	e->ids = NULL;
	e->job_index = NULL;
}
