#include "tools/api/job_json.h"
#include "state/base/memory.h"
#include "tools/api/json_record.h"
#include <stdlib.h>

// Nomad's names of the columns, by client status.
static const char *const summary_names[] = {[ALLOC_PENDING] = "Starting",
	[ALLOC_RUNNING] = "Running",
	[ALLOC_COMPLETE] = "Complete",
	[ALLOC_FAILED] = "Failed",
	[ALLOC_LOST] = "Lost",
	[ALLOC_UNKNOWN] = "Unknown"};
#define SUMMARY_COLUMNS (sizeof summary_names / sizeof summary_names[0])

struct group_summary {
	uint32_t columns[SUMMARY_COLUMNS];
};

struct summary {
	const struct job *job;
	struct group_summary *groups;
	uint64_t modify_index;
};

void job_json(struct json_writer *w, const struct job *job)
{
	json_record(w, &job_type_description, job);
}

// Groups are matched by name: an allocation may be of an earlier version of the job.
static bool add_allocation(const struct allocation *a, void *context)
{
	struct summary *summary = context;
	const struct task_group *group =
		ARRAY_AT(&a->job->task_groups, struct task_group, a->group);
	int at = a->job == summary->job ? a->group
					: job_group_index(summary->job, text_of(group->name));
	if (at >= 0)
		summary->groups[at].columns[a->client_status]++;
	if (a->record.modify_index > summary->modify_index)
		summary->modify_index = a->record.modify_index;
	return true;
}

static void put_groups(struct json_writer *w, const struct summary *summary)
{
	json_begin_object(w);
	for (uint32_t i = 0; i < summary->job->task_groups.count; i++) {
		json_write_key(w, ARRAY_AT(&summary->job->task_groups, struct task_group, i)->name);
		json_begin_object(w);
		json_put_u64(w, "Queued", 0);
		for (uint32_t column = 0; column < SUMMARY_COLUMNS; column++)
			json_put_u64(w, summary_names[column], summary->groups[i].columns[column]);
		json_end_object(w);
	}
	json_end_object(w);
}

void job_json_summary(struct json_writer *w, const struct state *state, const struct job *job)
{
	struct summary summary = {.job = job, .modify_index = job->record.modify_index};
	summary.groups = memory_take_array(job->task_groups.count + 1, sizeof summary.groups[0]);
	state_job_allocations(
		state, text_of(job->namespace_name), text_of(job->id), add_allocation, &summary);
	json_begin_object(w);
	json_put_string(w, "JobID", job->id);
	json_put_string(w, "Namespace", job->namespace_name);
	json_write_key(w, "Summary");
	put_groups(w, &summary);
	json_write_key(w, "Children");
	json_begin_object(w);
	json_put_u64(w, "Pending", 0);
	json_put_u64(w, "Running", 0);
	json_put_u64(w, "Dead", 0);
	json_end_object(w);
	json_put_u64(w, "CreateIndex", job->record.create_index);
	json_put_u64(w, "ModifyIndex", summary.modify_index);
	json_end_object(w);
	free(summary.groups);
}

void job_json_stub(struct json_writer *w, const struct state *state, const struct job *job)
{
	json_begin_object(w);
	json_record_members(w, &job_type_description, job, FIELD_IN_LIST);
	json_put_bool(w, "Periodic", job->periodic != NULL);
	json_put_bool(w, "ParameterizedJob", job->parameterized != NULL);
	json_write_key(w, "Multiregion");
	json_write_raw(w, job->multiregion ? text_of(job->multiregion) : TEXT("null"));
	json_write_key(w, "JobSummary");
	job_json_summary(w, state, job);
	json_end_object(w);
}
