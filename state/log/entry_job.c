#include "state/log/entry_job.h"
#include "state/base/error.h"
#include "state/base/schema_table.h"
#include "state/records/job.h"
#include "state/records/job_notes.h"

static const struct field entry_job_deregister_fields[] = {
	{"Namespace", FIELD_TEXT, OF(entry_job_deregister, namespace_name)},
	{"ID", FIELD_TEXT, OF(entry_job_deregister, id)},
	{"Purge", FIELD_BOOL, OF(entry_job_deregister, purge)},
	{"Everywhere", FIELD_U8, OF(entry_job_deregister, everywhere)},
	{"EvalPriority", FIELD_I64, OF(entry_job_deregister, eval_priority)},
};
DESCRIBE(entry_job_deregister_description, entry_job_deregister);

static const struct field entry_job_stable_fields[] = {
	{"Namespace", FIELD_TEXT, OF(entry_job_stable, namespace_name)},
	{"ID", FIELD_TEXT, OF(entry_job_stable, id)},
	{"Version", FIELD_U64, OF(entry_job_stable, version)},
	{"Stable", FIELD_BOOL, OF(entry_job_stable, stable)},
};
DESCRIBE(entry_job_stable_description, entry_job_stable);

void entry_job_register_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_job_register *e = body;

	record_encode(&job_type_description, e->job, w);
}

int entry_job_register_decode(void *body, struct bytes_reader *r)
{
	struct entry_job_register *e = body;
	struct job *job = job_create();
	int error = record_decode(&job_type_description, job, r);

	if (!error && !job_derive(job))
		error = -ERROR_CORRUPT;
	if (error)
		job_free(job);
	else
		e->job = job;
	return error;
}

void entry_job_register_release(void *body)
{
	struct entry_job_register *e = body;

	job_free(e->job);
	e->job = NULL;
}

void entry_job_note_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_job_note *e = body;

	bytes_put_text16(w, e->namespace_name);
	bytes_put_text16(w, e->id);
	bytes_put_u64(w, (uint64_t)e->launched_ns);
	if (e->launched_ns)
		return;
	bytes_put_text16(w, e->group);
	record_encode(&scaling_event_description, e->event, w);
}

int entry_job_note_decode(void *body, struct bytes_reader *r)
{
	struct entry_job_note *e = body;

	e->namespace_name = bytes_take_text16(r);
	e->id = bytes_take_text16(r);
	e->launched_ns = (int64_t)bytes_take_u64(r);
	if (r->failed || e->launched_ns < 0)
		return -ERROR_CORRUPT;
	if (e->launched_ns)
		return 0;
	e->group = bytes_take_text16(r);
	return record_decode_new(&scaling_event_description, (void **)&e->event, r);
}

void entry_job_note_release(void *body)
{
	struct entry_job_note *e = body;

	record_free(&scaling_event_description, e->event);
	e->event = NULL;
}
