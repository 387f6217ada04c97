#include "state/log/entry_evaluation.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/evaluation.h"
#include "state/records/scheduler_config.h"
#include <stdlib.h>

void entry_evaluation_encode(const struct entry_evaluation *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->of_mark);
	record_encode(&evaluation_description, e->evaluation, w);
}

int entry_evaluation_decode(struct entry_evaluation *e, struct bytes_reader *r)
{
	uint8_t of_mark = bytes_take_u8(r);
	struct evaluation *evaluation = evaluation_create();
	int error = record_decode(&evaluation_description, evaluation, r);

	if (!error && of_mark > 1)
		error = -ERROR_CORRUPT;
	if (error) {
		evaluation_free(evaluation);
		return error;
	}
	*e = (struct entry_evaluation){.of_mark = of_mark, .evaluation = evaluation};
	return 0;
}

void entry_scheduler_config_encode(const struct entry_scheduler_config *e, struct bytes_writer *w)
{
	record_encode(&scheduler_config_description, e->config, w);
}

int entry_scheduler_config_decode(struct entry_scheduler_config *e, struct bytes_reader *r)
{
	struct scheduler_config *config = memory_take(sizeof *config);
	int error = record_decode(&scheduler_config_description, config, r);

	if (error)
		free(config);
	else
		e->config = config;
	return error;
}

void entry_gc_encode(const struct entry_gc *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->kind);
	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->kind == GC_JOB)
			bytes_put_u64(w, e->job_index[i]);
		else
			bytes_put_uuid(w, &e->ids[i]);
	}
}

int entry_gc_decode(struct entry_gc *e, struct bytes_reader *r)
{
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

void entry_gc_release(struct entry_gc *e)
{
	free(e->ids);
	free(e->job_index);
	e->ids = NULL;
	e->job_index = NULL;
}
