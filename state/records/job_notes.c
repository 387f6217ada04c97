#include "state/records/job_notes.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define OF(type, member) offsetof(struct type, member)
#define FLAGS(flags) NULL, NULL, flags

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
const struct record_type scaling_event_description = {"scaling_event", sizeof(struct scaling_event),
	scaling_event_fields, sizeof scaling_event_fields / sizeof scaling_event_fields[0], NULL};

static const struct field scaled_group_fields[] = {
	{"Group", FIELD_STRING, OF(scaled_group, group), FLAGS(FIELD_HIDDEN)},
	{"Events", FIELD_ARRAY, OF(scaled_group, events), &scaling_event_description},
};
static const struct record_type scaled_group_description = {"scaled_group",
	sizeof(struct scaled_group), scaled_group_fields,
	sizeof scaled_group_fields / sizeof scaled_group_fields[0], NULL};

static const struct field job_notes_fields[] = {
	{"LaunchTime", FIELD_I64, OF(job_notes, launched_ns)},
	{"Scaled", FIELD_STRUCT_MAP, OF(job_notes, scaled), &scaled_group_description},
};
const struct record_type job_notes_description = {"job_notes", sizeof(struct job_notes),
	job_notes_fields, sizeof job_notes_fields / sizeof job_notes_fields[0], NULL};

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
	record_release(&job_notes_description, notes);
	free(notes);
}

int job_notes_decode(struct job_notes **notes, struct bytes_reader *r)
{
	struct job_notes *decoded = memory_take(sizeof *decoded);
	int error = record_decode(&job_notes_description, decoded, r);

	*notes = NULL;
	if (error) {
		free(decoded);
		return error;
	}
	atomic_init(&decoded->references, 1);
	*notes = decoded;
	return 0;
}
