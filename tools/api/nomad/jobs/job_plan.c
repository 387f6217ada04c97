// PUT /v1/job/:id/plan: what registering a job would do; stores nothing.
#include "placement/cron/cron.h"
#include "state/records/job_traits.h"
#include "tools/api/nomad/jobs/job_submission.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/request.h"
#include "tools/forms/allocation_json.h"
#include "tools/forms/diff/job_diff.h"
#include "tools/forms/dry_run.h"
#include "tools/json/json_record.h"

// A plan under way: the stored job and the one that would replace it.
struct plan_request {
	struct job *before; // a copy; NULL: no such job
	struct job *after;
	struct dry_run run;
};

static struct job *stored_copy(const struct request *request, const struct job *job)
{
	state_read_begin();
	const struct job *stored = state_job(
		request->api->settings.state, text_of(job->namespace_name), text_of(job->id));
	struct job *copy = stored ? job_copy(stored) : NULL;
	state_read_end();
	return copy;
}

// Sets the version and the indexes that the job would get.
static void number_version(struct job *after, const struct job *before)
{
	bool differs = !before || job_specification_differs(after, before);
	after->version = !before ? 0 : before->version + (differs ? 1 : 0);
	after->record.create_index = before ? before->record.create_index : 1;
	after->job_modify_index = !before ? 1 : before->job_modify_index + (differs ? 1 : 0);
	after->record.modify_index = after->job_modify_index;
}

static void put_preempted(
	struct json_writer *w, const struct state *state, const struct array *preempted)
{
	if (!json_open_array_if(w, "PreemptedAllocs", preempted->count > 0))
		return;
	state_read_begin();
	for (uint32_t i = 0; i < preempted->count; i++) {
		const struct allocation *a =
			state_allocation(state, ARRAY_AT(preempted, struct uuid, i));
		if (a)
			allocation_json_stub(w, state, a, false);
	}
	state_read_end();
	json_end_array(w);
}

// Grouped by name, which the description of the updates begins with.
static const struct field updates_by_group = {
	.kind = FIELD_STRUCT_MAP, .type = &desired_updates_description};

static void put_failed(struct json_writer *w, const struct array *groups)
{
	if (!json_open_object_if(w, "FailedTGAllocs", groups->count > 0))
		return;
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct failed_group *group = ARRAY_AT(groups, struct failed_group, i);
		json_write_key(w, group->group);
		json_record(w, &metrics_description, &group->metrics);
	}
	json_end_object(w);
}

static void put_created(struct json_writer *w, const struct array *created)
{
	if (!json_open_array_if(w, "CreatedEvals", created->count > 0))
		return;
	for (uint32_t i = 0; i < created->count; i++)
		json_record(w, &evaluation_description, *ARRAY_AT(created, struct evaluation *, i));
	json_end_array(w);
}

static void put_diff(struct json_writer *w, const struct plan_request *plan, bool wanted)
{
	json_write_key(w, "Diff");
	if (!wanted) {
		json_write_null(w);
		return;
	}
	struct job_diff diff;
	job_diff_make(plan->before, plan->after, &diff);
	job_diff_annotate(&diff, &plan->run.updates);
	json_record(w, &job_diff_description, &diff);
	record_release(&job_diff_description, &diff);
}

static void put_next_launch(struct json_writer *w, const struct job *job, int64_t now_ns)
{
	bool launches = job->periodic && job->periodic->enabled && !job->stop;
	struct launch_times *times = launches ? launch_times_create(job->periodic) : NULL;
	int64_t next_ns = times ? launch_times_next(times, now_ns) : CRON_NEVER;
	json_write_key(w, "NextPeriodicLaunch");
	if (next_ns == CRON_NEVER)
		json_write_null(w);
	else
		json_write_time(w, next_ns);
	launch_times_free(times);
}

static void put_plan(struct request *request, struct reply *reply, const struct job_body *read,
	const struct plan_request *plan)
{
	const struct state *state = request->api->settings.state;
	uint64_t index = plan->before ? plan->before->job_modify_index : 0;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_object(w, "Annotations");
	json_write_key(w, "DesiredTGUpdates");
	json_write_field(w, &updates_by_group, &plan->run.updates);
	put_preempted(w, state, &plan->run.preempted);
	json_end_object(w);
	put_failed(w, &plan->run.failed_groups);
	json_put_u64(w, "JobModifyIndex", index);
	put_created(w, &plan->run.created);
	put_diff(w, plan, read->diff);
	put_next_launch(w, plan->after, (int64_t)time_wall_ns(request->api->settings.time));
	job_warnings_json(w, &read->report.warnings);
	json_put_u64(w, "Index", index);
	json_end_object(w);
	reply_index(reply, index);
}

static void run_plan(struct request *request, struct plan_request *plan)
{
	struct api *api = request->api;
	struct prng prng;
	// Clients place the instances of direct jobs: registering one changes none of them.
	if (job_is_direct(plan->after))
		return;
	pthread_mutex_lock(&api->prng_lock);
	prng_seed(&prng, prng_u64(&api->prng));
	pthread_mutex_unlock(&api->prng_lock);
	dry_run(api->settings.state, plan->after, &prng, (int64_t)time_wall_ns(api->settings.time),
		&plan->run);
}

static void work_out(struct request *request, struct reply *reply)
{
	const struct job_body *read = request->context;
	struct plan_request plan = {.before = stored_copy(request, read->job), .after = read->job};
	number_version(plan.after, plan.before);
	run_plan(request, &plan);
	put_plan(request, reply, read, &plan);
	dry_run_release(&plan.run);
	job_free(plan.before);
}

void job_plan(struct request *request, struct reply *reply)
{
	struct job_body *read = job_submission_read(request, reply);
	if (!read)
		return;
	job_submission_check_update(request, read);
	if (job_submission_is_valid(request, read, "Job must have a valid ID", reply))
		answer_in_background(request, reply, BACKGROUND_WORK, work_out);
}
