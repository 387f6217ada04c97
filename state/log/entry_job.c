#include "state/log/entry_job.h"
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

void entry_job_register_code(struct coder *c, void *body)
{
	struct entry_job_register *e = body;

	code_record(c, &job_type_description, (void **)&e->job);
	coder_require(c, c->writer || (e->job && job_derive(e->job)));
}

void entry_job_register_release(void *body)
{
	struct entry_job_register *e = body;

	job_free(e->job);
	e->job = NULL;
}

void entry_job_note_code(struct coder *c, void *body)
{
	struct entry_job_note *e = body;

	code_text16(c, &e->namespace_name);
	code_text16(c, &e->id);
	code_i64(c, &e->launched_ns);
	coder_require(c, e->launched_ns >= 0);
	if (e->launched_ns)
		return;
	code_text16(c, &e->group);
	code_record(c, &scaling_event_description, (void **)&e->event);
}

void entry_job_note_release(void *body)
{
	struct entry_job_note *e = body;

	record_free(&scaling_event_description, e->event);
	e->event = NULL;
}
