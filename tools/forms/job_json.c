#include "tools/forms/job_json.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job_notes.h"
#include "tools/json/json_record.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Copies a job without the fields that the applier changes beside readers and that are never shown.
static struct job shown_part(const struct job *job)
{
	struct job shown = {
		.status = __atomic_load_n(&job->status, __ATOMIC_RELAXED),
		.status_description = job->status_description,
		.stable = __atomic_load_n(&job->stable, __ATOMIC_RELAXED),
	};
	memcpy(&shown, job, offsetof(struct job, status));
	memcpy(&shown.version, &job->version,
		offsetof(struct job, asks) - offsetof(struct job, version));
	return shown;
}

// Nomad's form always has the job's own update strategy; zeros stand for none.
void job_json(struct json_writer *w, const struct job *job)
{
	static struct update_strategy none = {
		.auto_revert = {true, false}, .auto_promote = {true, false}};
	struct job shown = shown_part(job);
	if (!shown.update)
		shown.update = &none;
	json_record(w, &job_type_description, &shown);
}

static void put_group(struct json_writer *w, const struct task_group_summary *group)
{
	json_open_object(w, group->group);
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
	uint64_t of_allocations = state_job_index_of(state, STATE_ALLOCATIONS, namespace_name, id);
	return of_job > of_allocations ? of_job : of_allocations;
}

void job_json_summary(struct json_writer *w, const struct state *state, const struct job *job)
{
	uint32_t count = job->task_groups.count;
	struct task_group_summary *groups = memory_take_array(count + 1, sizeof groups[0]);
	if (!state_job_summary(
		    state, text_of(job->namespace_name), text_of(job->id), groups, &count))
		count = 0;
	struct job_children children =
		state_job_children(state, text_of(job->namespace_name), text_of(job->id));
	json_begin_object(w);
	json_put_string(w, "JobID", job->id);
	json_put_string(w, "Namespace", job->namespace_name);
	json_open_object(w, "Summary");
	for (uint32_t i = 0; i < count; i++)
		put_group(w, &groups[i]);
	json_end_object(w);
	json_open_object(w, "Children");
	json_put_i64(w, "Pending", children.pending);
	json_put_i64(w, "Running", children.running);
	json_put_i64(w, "Dead", children.dead);
	json_end_object(w);
	json_put_u64(w, "CreateIndex", job->record.create_index);
	json_put_u64(w, "ModifyIndex", job_summary_index(state, job));
	json_end_object(w);
	free(groups);
}

// Counts of a group's living instances, without canaries.
struct scale_counts {
	int64_t placed, running, healthy, unhealthy;
};

struct scale_scan {
	const struct job *job;
	struct scale_counts *groups;
};

static bool count_one(const struct allocation *a, void *context)
{
	const struct scale_scan *scan = context;
	const struct alloc_deployment_status *status = allocation_health(a);
	const char *name = allocation_group(a)->name;
	int at = job_group_index(scan->job, text_of(name));
	if (at < 0 || allocation_is_terminal(a) || (status && status->canary))
		return true;
	struct scale_counts *counts = &scan->groups[at];
	counts->placed++;
	counts->running += a->client_status == ALLOC_RUNNING;
	if (status && status->healthy.set) {
		counts->healthy += status->healthy.value;
		counts->unhealthy += !status->healthy.value;
	}
	return true;
}

static void put_scaling_events(
	struct json_writer *w, const struct job_notes *notes, const char *group)
{
	const struct scaled_group *scaled = NULL;
	for (uint32_t i = 0; notes && !scaled && i < notes->scaled.count; i++) {
		const struct scaled_group *one = ARRAY_AT(&notes->scaled, struct scaled_group, i);
		if (strcmp(one->group, group) == 0)
			scaled = one;
	}
	json_put_records(w, "Events", &scaling_event_description,
		scaled ? &scaled->events : &(const struct array){0});
}

static void put_scale(struct json_writer *w, const struct task_group *group,
	const struct scale_counts *counts, const struct job_notes *notes)
{
	json_open_object(w, group->name);
	json_put_i64(w, "Desired", group->count);
	json_put_i64(w, "Placed", counts->placed);
	json_put_i64(w, "Running", counts->running);
	json_put_i64(w, "Healthy", counts->healthy);
	json_put_i64(w, "Unhealthy", counts->unhealthy);
	put_scaling_events(w, notes, group->name);
	json_end_object(w);
}

void job_json_scale(struct json_writer *w, const struct state *state, const struct job *job)
{
	struct text namespace_name = text_of(job->namespace_name), id = text_of(job->id);
	const struct job_notes *notes = state_job_notes(state, namespace_name, id);
	struct scale_scan scan = {
		job, memory_take_array(job->task_groups.count + 1, sizeof scan.groups[0])};
	state_job_allocations(state, namespace_name, id, count_one, &scan);
	json_begin_object(w);
	json_put_string(w, "JobID", job->id);
	json_put_string(w, "Namespace", job->namespace_name);
	json_put_u64(w, "JobCreateIndex", job->record.create_index);
	json_put_u64(w, "JobModifyIndex", job->job_modify_index);
	json_put_bool(w, "JobStopped", job->stop);
	json_open_object(w, "TaskGroups");
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		put_scale(w, ARRAY_AT(&job->task_groups, struct task_group, i), &scan.groups[i],
			notes);
	json_end_object(w);
	json_end_object(w);
	free(scan.groups);
}

void job_json_stub(
	struct json_writer *w, const struct state *state, const struct job *job, bool meta)
{
	json_begin_object(w);
	json_record_members(w, &job_type_description, job, FIELD_IN_LIST);
	json_put_bool(w, "Periodic", job->periodic != NULL);
	// What was dispatched has its parameters, and takes none.
	json_put_bool(w, "ParameterizedJob", job->parameterized && !job->dispatched);
	json_write_key(w, "JobSummary");
	job_json_summary(w, state, job);
	if (meta)
		json_put_map(w, "Meta", FIELD_MAP, &job->meta);
	json_end_object(w);
}
