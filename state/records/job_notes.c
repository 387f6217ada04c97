#include "state/records/job_notes.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"

static const struct field scaling_event_fields[] = {
	{"Time", FIELD_I64, OF(scaling_event, time_ns)},
	{"Count", FIELD_OPTIONAL_I64, OF(scaling_event, count)},
	{"PreviousCount", FIELD_I64, OF(scaling_event, previous_count)},
	{"Message", FIELD_STRING, OF(scaling_event, message)},
	{"Error", FIELD_BOOL, OF(scaling_event, error)},
	{"Meta", FIELD_JSON, OF(scaling_event, meta)},
	{"EvalID", FIELD_UUID, OF(scaling_event, eval_id), FLAGS(FIELD_NULL_EMPTY)},
	{"CreateIndex", FIELD_U64, OF(scaling_event, create_index)},
};
DESCRIBE(scaling_event_description, scaling_event);

static const struct field scaled_group_fields[] = {
	{"Group", FIELD_STRING, OF(scaled_group, group), FLAGS(FIELD_HIDDEN)},
	{"Events", FIELD_ARRAY, OF(scaled_group, events), &scaling_event_description},
};
static DESCRIBE(scaled_group_description, scaled_group);

static const struct field job_notes_fields[] = {
	{"LaunchTime", FIELD_I64, OF(job_notes, launched_ns)},
	{"Scaled", FIELD_STRUCT_MAP, OF(job_notes, scaled), &scaled_group_description},
};
DESCRIBE(job_notes_description, job_notes);

struct job_notes *job_notes_copy(const struct job_notes *notes)
{
	struct job_notes *copy = memory_take(sizeof *copy);

	if (notes)
		record_copy(&job_notes_description, copy, notes);
	atomic_init(&copy->references, 1);
	return copy;
}

struct job_notes *job_notes_share(struct job_notes *notes)
{
	if (notes)
		atomic_fetch_add_explicit(&notes->references, 1, memory_order_relaxed);
	return notes;
}

void job_notes_release(struct job_notes *notes)
{
	if (!notes || atomic_fetch_sub_explicit(&notes->references, 1, memory_order_acq_rel) > 1)
		return;
	record_free(&job_notes_description, notes);
}

int job_notes_decode(struct job_notes **notes, struct bytes_reader *r)
{
	int error = record_decode_new(&job_notes_description, (void **)notes, r);

	if (!error)
		atomic_init(&(*notes)->references, 1);
	return error;
}
