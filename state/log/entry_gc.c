#include "state/log/entry_gc.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include <stdlib.h>

void entry_gc_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_gc *e = body;

	bytes_put_u8(w, e->kind);
	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->kind == GC_JOB)
			bytes_put_u64(w, e->job_index[i]);
		else
			bytes_put_uuid(w, &e->ids[i]);
	}
}

int entry_gc_decode(void *body, struct bytes_reader *r)
{
	struct entry_gc *e = body;

	*e = (struct entry_gc){.kind = bytes_take_u8(r)};
	uint32_t count = bytes_take_u32(r);

	if (r->failed || e->kind >= GC_KINDS || count == 0 || count > GC_ITEMS_MAX)
		return -ERROR_CORRUPT;
	e->count = count;
	if (e->kind == GC_JOB)
		e->job_index = memory_take_array(count, sizeof e->job_index[0]);
	else
		e->ids = memory_take_array(count, sizeof e->ids[0]);
	for (uint32_t i = 0; i < count; i++) {
		if (e->kind == GC_JOB)
			e->job_index[i] = bytes_take_u64(r);
		else
			e->ids[i] = bytes_take_uuid(r);
	}
	if (!r->failed)
		return 0;
	entry_gc_release(e);
	return -ERROR_CORRUPT;
}

void entry_gc_release(void *body)
{
	struct entry_gc *e = body;

	free(e->ids);
	free(e->job_index);
	e->ids = NULL;
	e->job_index = NULL;
}
