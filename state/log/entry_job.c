#include "state/log/entry_job.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/job_notes.h"
#include <stdlib.h>

void entry_job_stable_encode(const struct entry_job_stable *e, struct bytes_writer *w)
{
	bytes_put_text16(w, e->namespace_name);
	bytes_put_text16(w, e->id);
	bytes_put_u64(w, e->version);
	bytes_put_u8(w, e->stable);
}

int entry_job_stable_decode(struct entry_job_stable *e, struct bytes_reader *r)
{
	e->namespace_name = bytes_take_text16(r);
	e->id = bytes_take_text16(r);
	e->version = bytes_take_u64(r);
	uint8_t stable = bytes_take_u8(r);
	e->stable = stable;
	return r->failed || stable > 1 ? -ERROR_CORRUPT : 0;
}

void entry_job_note_encode(const struct entry_job_note *e, struct bytes_writer *w)
{
	bytes_put_text16(w, e->namespace_name);
	bytes_put_text16(w, e->id);
	bytes_put_u64(w, (uint64_t)e->launched_ns);
	if (e->launched_ns)
		return;
	bytes_put_text16(w, e->group);
	record_encode(&scaling_event_description, e->event, w);
}

int entry_job_note_decode(struct entry_job_note *e, struct bytes_reader *r)
{
	e->namespace_name = bytes_take_text16(r);
	e->id = bytes_take_text16(r);
	e->launched_ns = (int64_t)bytes_take_u64(r);
	if (r->failed || e->launched_ns < 0)
		return -ERROR_CORRUPT;
	if (e->launched_ns)
		return 0;
	e->group = bytes_take_text16(r);
	struct scaling_event *event = memory_take(sizeof *event);
	int error = record_decode(&scaling_event_description, event, r);
	if (error)
		free(event);
	else
		e->event = event;
	return error;
}

void entry_job_note_release(struct entry_job_note *e)
{
	if (e->event)
		record_release(&scaling_event_description, e->event);
	free(e->event);
	e->event = NULL;
}
