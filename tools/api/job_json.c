#include "tools/api/job_json.h"
#include "state/base/memory.h"
#include "tools/api/json_record.h"
#include <stdlib.h>

// A job's own update strategy is always there in Nomad's form; zeros say that it has none.
void job_json(struct json_writer *w, const struct job *job)
{
	static struct update_strategy none = {
		.auto_revert = {true, false}, .auto_promote = {true, false}};
	struct job shown = *job;
	if (!shown.update)
		shown.update = &none;
	json_record(w, &job_type_description, &shown);
}

// --- Summaries -----------------------------------------------------------------------------------

static void put_group(struct json_writer *w, const struct task_group_summary *group)
{
	json_write_key(w, group->group);
	json_begin_object(w);
	json_put_i64(w, "Queued", group->queued);
	json_put_i64(w, "Complete", group->complete);
	json_put_i64(w, "Failed", group->failed);
	json_put_i64(w, "Running", group->running);
	json_put_i64(w, "Starting", group->starting);
	json_put_i64(w, "Lost", group->lost);
	json_put_i64(w, "Unknown", group->unknown);
	json_end_object(w);
}

uint64_t job_summary_index(const struct state *state, const struct job *job)
{
	struct text namespace_name = text_of(job->namespace_name), id = text_of(job->id);
	uint64_t of_job = state_job_index(state, namespace_name, id);
	uint64_t of_allocations = state_job_allocations_index(state, namespace_name, id);
	return of_job > of_allocations ? of_job : of_allocations;
}

void job_json_summary(struct json_writer *w, const struct state *state, const struct job *job)
{
	uint32_t count = job->task_groups.count;
	struct task_group_summary *groups = memory_take_array(count + 1, sizeof groups[0]);
	if (!state_job_summary(
		    state, text_of(job->namespace_name), text_of(job->id), groups, &count))
		count = 0;
	json_begin_object(w);
	json_put_string(w, "JobID", job->id);
	json_put_string(w, "Namespace", job->namespace_name);
	json_write_key(w, "Summary");
	json_begin_object(w);
	for (uint32_t i = 0; i < count; i++)
		put_group(w, &groups[i]);
	json_end_object(w);
	json_write_key(w, "Children");
	json_begin_object(w);
	json_put_u64(w, "Pending", 0);
	json_put_u64(w, "Running", 0);
	json_put_u64(w, "Dead", 0);
	json_end_object(w);
	json_put_u64(w, "CreateIndex", job->record.create_index);
	json_put_u64(w, "ModifyIndex", job_summary_index(state, job));
	json_end_object(w);
	free(groups);
}

// --- Scale ---------------------------------------------------------------------------------------

static void put_scale(struct json_writer *w, const struct task_group *group,
	const struct task_group_summary *counts)
{
	json_write_key(w, group->name);
	json_begin_object(w);
	json_put_i64(w, "Desired", group->count);
	json_put_i64(w, "Placed", counts->starting + counts->running + counts->unknown);
	json_put_i64(w, "Running", counts->running);
	json_put_i64(w, "Healthy", 0);
	json_put_i64(w, "Unhealthy", 0);
	json_put_null(w, "Events");
	json_end_object(w);
}

void job_json_scale(struct json_writer *w, const struct state *state, const struct job *job)
{
	uint32_t count = job->task_groups.count;
	struct task_group_summary *groups = memory_take_array(count + 1, sizeof groups[0]);
	if (!state_job_summary(
		    state, text_of(job->namespace_name), text_of(job->id), groups, &count))
		count = 0;
	json_begin_object(w);
	json_put_string(w, "JobID", job->id);
	json_put_string(w, "Namespace", job->namespace_name);
	json_put_u64(w, "JobCreateIndex", job->record.create_index);
	json_put_u64(w, "JobModifyIndex", job->job_modify_index);
	json_put_bool(w, "JobStopped", job->stop);
	json_write_key(w, "TaskGroups");
	json_begin_object(w);
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		struct task_group_summary none = {0}, *counts = &none;
		for (uint32_t k = 0; k < count; k++)
			if (strcmp(groups[k].group, group->name) == 0)
				counts = &groups[k];
		put_scale(w, group, counts);
	}
	json_end_object(w);
	json_end_object(w);
	free(groups);
}

// --- The short form ------------------------------------------------------------------------------

void job_json_stub(struct json_writer *w, const struct state *state, const struct job *job)
{
	json_begin_object(w);
	json_record_members(w, &job_type_description, job, FIELD_IN_LIST);
	json_put_bool(w, "Periodic", job->periodic != NULL);
	json_put_bool(w, "ParameterizedJob", job->parameterized != NULL);
	json_write_key(w, "JobSummary");
	job_json_summary(w, state, job);
	json_end_object(w);
}
