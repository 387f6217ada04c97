// /v1/berth/explain/…: why allocations run where they do, or do not run.
#include "placement/scheduler/common/snapshot_tier.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job_traits.h"
#include "state/records/namespaces/quota.h"
#include "tools/api/berth/routes.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/explanation.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Jobs that the explanation of one node visits.
#define JOBS_EXPLAINED_MAX 1000u
#define SENTENCE_BYTES 1024u

static void put_reason(struct json_writer *w, const struct reason *reason)
{
	json_begin_object(w);
	json_put_string(w, "Kind", reason_kind_names[reason->kind]);
	json_put_string(w, "Reason", reason->text);
	json_put_u64(w, "Nodes", reason->nodes);
	json_write_key(w, "Nearest");
	if (reason->lack) {
		json_begin_object(w);
		json_put_uuid(w, "NodeID", &reason->nearest);
		json_put_string(w, "NodeName", reason->nearest_name);
		json_put_u64(w, "Lack", reason->lack);
		json_put_string(w, "Unit", reason->unit);
		json_end_object(w);
	} else {
		json_write_null(w);
	}
	json_end_object(w);
}

static void put_reasons(struct json_writer *w, const struct group_explanation *group)
{
	json_open_array(w, "Reasons");
	for (uint32_t i = 0; i < group->reason_count; i++)
		put_reason(w, &group->reasons[i]);
	json_end_array(w);
}

// Prints which of the fitting nodes come first.
static void put_snapshot(struct json_writer *w, const struct group_explanation *group)
{
	if (!json_open_object_if(w, "Snapshot", group->snapshot != NULL))
		return;
	json_put_string(w, "ID", group->snapshot);
	json_put_u64(w, "NodesIdleWithIt", group->tiers[SNAPSHOT_SAME]);
	json_put_u64(w, "NodesIdleWithout", group->tiers[SNAPSHOT_NONE]);
	json_put_u64(w, "NodesIdleOther", group->tiers[SNAPSHOT_OTHER]);
	json_put_u64(w, "NodesBusy", group->tiers[SNAPSHOT_BUSY]);
	json_end_object(w);
}

static void put_group(struct json_writer *w, const struct group_explanation *group)
{
	json_begin_object(w);
	json_put_string(w, "Group", group->group);
	json_open_object(w, "Ask");
	json_put_u64(w, "CPU", group->ask.cpu_mhz);
	json_put_u64(w, "MemoryMB", group->ask.memory_mb);
	json_put_u64(w, "DiskMB", group->ask.disk_mb);
	json_end_object(w);
	json_put_u64(w, "Nodes", group->nodes);
	json_put_u64(w, "NodesRunning", group->running);
	json_put_u64(w, "NodesFitting", group->fitting);
	put_snapshot(w, group);
	put_reasons(w, group);
	json_end_object(w);
}

static void put_groups(
	struct json_writer *w, const struct scheduler_view *view, const struct job *job)
{
	json_open_array(w, "Groups");
	for (uint32_t i = 0; i < job->asks.count; i++) {
		struct group_explanation group;
		explain_group(view, job, i, 0, UINT32_MAX, &group);
		put_group(w, &group);
		group_explanation_free(&group);
	}
	json_end_array(w);
}

__attribute__((format(printf, 2, 3))) static void put_sentence(
	struct json_writer *w, const char *format, ...)
{
	char text[SENTENCE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_write_string(w, text);
}

static void say_counts(struct json_writer *w, const struct job *job)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		put_sentence(w, "%lld of group %s %s to run.", (long long)group->count, group->name,
			group->count == 1 ? "is" : "are");
	}
}

static void say_type(struct json_writer *w, const struct job *job)
{
	if (job->stop)
		put_sentence(w, "The job is stopped: nothing of it is to run.");
	else if (!job_has_scheduler(job) && !job_is_direct(job))
		put_sentence(w, "It only launches other jobs and runs nothing itself.");
	else if (job_is_direct(job))
		put_sentence(w, "Its instances are placed by clients, one by one, and not by "
				"schedulers.");
	else if (job_traits_of(job)->is_on_every_node)
		put_sentence(w, "One instance of each group is to run on every node that can "
				"take it.");
	else
		say_counts(w, job);
}

static void say_deployment(struct json_writer *w, const struct state *state, const struct job *job)
{
	const struct deployment *d =
		state_latest_deployment(state, text_of(job->namespace_name), text_of(job->id));
	char id[UUID_TEXT_BYTES];
	if (!d || d->job_version != job->version || d->job_create_index != job->record.create_index)
		return;
	put_sentence(w, "Deployment %s of this version is %s: %s.", uuid_format(&d->id, id),
		deployment_status_names[d->status], d->status_description);
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		bool waits = g->desired_canaries > 0 && !g->promoted;
		put_sentence(w, "Of group %s %lld of %lld are placed, %lld healthy and %lld not%s.",
			g->group, (long long)g->placed_allocs, (long long)g->desired_total,
			(long long)g->healthy_allocs, (long long)g->unhealthy_allocs,
			waits ? "; the others wait until its canaries are promoted" : "");
	}
}

// Says what will look at the job again.
static bool say_evaluation(const struct evaluation *e, void *context)
{
	char id[UUID_TEXT_BYTES];
	if (e->status == EVAL_BLOCKED)
		put_sentence(context, "Evaluation %s waits for room.", uuid_format(&e->id, id));
	else if (e->status == EVAL_PENDING && e->wait_until_ns)
		put_sentence(context, "Evaluation %s will look at it at %lld (unix seconds): %s.",
			uuid_format(&e->id, id), (long long)(e->wait_until_ns / NS_PER_S),
			e->status_description && *e->status_description
				? e->status_description
				: eval_trigger_names[e->triggered_by]);
	else if (e->status == EVAL_PENDING)
		put_sentence(context, "Evaluation %s is under way.", uuid_format(&e->id, id));
	return true;
}

// Row B45.
static void say_quota(
	struct json_writer *w, const struct state *state, const struct job *job, uint32_t group)
{
	const struct group_ask *ask = ARRAY_AT(&job->asks, struct group_ask, group);
	struct quota_amount one = {0};
	struct array texts = {0};
	quota_amount_add(&one, ask->resources, ask, 1);
	const char *quota = state_quota_lacks(state, text_of(job->namespace_name), &one, &texts);
	for (uint32_t i = 0; i < texts.count; i++) {
		char *text = *ARRAY_AT(&texts, char *, i);
		put_sentence(w,
			"The quota \"%s\" of its namespace has no room for one more of group "
			"\"%s\": "
			"%s.",
			quota, ARRAY_AT(&job->task_groups, struct task_group, group)->name, text);
		free(text);
	}
	free(texts.items);
	quota_amount_free(&one);
}

static void put_job_sentences(
	struct json_writer *w, const struct state *state, const struct job *job)
{
	json_open_array(w, "Sentences");
	say_type(w, job);
	say_deployment(w, state, job);
	state_job_evaluations(
		state, text_of(job->namespace_name), text_of(job->id), say_evaluation, w);
	for (uint32_t i = 0; i < job->asks.count; i++)
		say_quota(w, state, job, i);
	if (state_scheduler_config(state)->pause_eval_broker)
		put_sentence(w, "Evaluations are paused by the scheduler configuration: nothing "
				"new is placed.");
	json_end_array(w);
}

static void work_out_job(struct request *request, struct reply *reply)
{
	struct state *state = request->api->settings.state;
	struct scheduler_view view = state_view_begin(state);
	const struct job *job = job_of_path(request);
	if (job) {
		struct json_writer *w = reply_json(request, reply);
		json_begin_object(w);
		json_put_string(w, "JobID", job->id);
		json_put_string(w, "Namespace", job->namespace_name);
		json_put_string(w, "Type", job_type_names[job->type]);
		json_put_u64(w, "JobVersion", job->version);
		json_put_string(w, "Status",
			job_status_names[__atomic_load_n(&job->status, __ATOMIC_RELAXED)]);
		put_job_sentences(w, state, job);
		put_groups(w, &view, job);
		json_end_object(w);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "job not found");
	}
	reply_index(reply, state_index(state));
	state_view_end();
}

static void say_node(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	const struct node *node = state_node_at(state, a->node_slot);
	char id[UUID_TEXT_BYTES];
	if (!node || !uuid_equal(&node->id, &a->node_id))
		put_sentence(w, "Its node %s was purged.", uuid_format(&a->node_id, id));
	else if (node->status != NODE_READY)
		put_sentence(w, "Its node %s is %s.", node->name, node_status_names[node->status]);
	else if (a->client_status == ALLOC_PENDING && a->desired == ALLOC_RUN)
		put_sentence(
			w, "Its node %s is ready and has not said yet that it runs.", node->name);
}

static void say_wishes(struct json_writer *w, const struct allocation *a)
{
	char description[DESIRED_DESCRIPTION_BYTES];
	const char *why = allocation_desired_description(a, description);
	const char *said = allocation_client_description(a);
	put_sentence(w, "It is to %s%s%s.", alloc_desired_names[a->desired], *why ? ": " : "", why);
	put_sentence(w, "Its node's word is %s%s%s.", alloc_client_names[a->client_status],
		*said ? ": " : "", said);
}

static void say_origin(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	char id[UUID_TEXT_BYTES];
	const struct evaluation *e =
		uuid_is_zero(&a->eval_id) ? NULL : state_evaluation(state, &a->eval_id);
	if (e)
		put_sentence(w, "Evaluation %s placed it (%s); that is %s now.",
			uuid_format(&e->id, id), eval_trigger_names[e->triggered_by],
			eval_status_names[e->status]);
	else if (uuid_is_zero(&a->eval_id))
		put_sentence(w, "Client %s placed it on the best of %u nodes, %u of them feasible.",
			a->client == CLIENT_NONE ? "-" : state_client_name(state, a->client),
			a->nodes_evaluated, a->nodes_feasible);
	put_sentence(w, "The node's score was %.4f.", a->score);
}

static void say_history(struct json_writer *w, const struct allocation *a)
{
	static const struct alloc_details none;
	const struct alloc_details *d = a->details ? a->details : &none;
	const struct alloc_deployment_status *health = allocation_health(a);
	char id[UUID_TEXT_BYTES];
	if (!uuid_is_zero(&d->previous_allocation))
		put_sentence(
			w, "It replaces allocation %s.", uuid_format(&d->previous_allocation, id));
	if (!uuid_is_zero(&d->next_allocation))
		put_sentence(w, "Allocation %s replaces it.", uuid_format(&d->next_allocation, id));
	if (!uuid_is_zero(&d->preempted_by))
		put_sentence(w, "Allocation %s took its place.", uuid_format(&d->preempted_by, id));
	if (d->preempted.count)
		put_sentence(w, "It took the place of %u allocations of less priority.",
			d->preempted.count);
	if (!uuid_is_zero(&d->followup_eval))
		put_sentence(w, "Evaluation %s will look at it again.",
			uuid_format(&d->followup_eval, id));
	if (d->transition.migrate.set && d->transition.migrate.value)
		put_sentence(w, "It was asked to go elsewhere.");
	if (health)
		put_sentence(w, "It is %s of deployment %s and %s.",
			health->canary ? "a canary" : "part", uuid_format(&d->deployment_id, id),
			!health->healthy.set    ? "has no verdict on its health yet"
			: health->healthy.value ? "healthy"
						: "unhealthy");
	if (d->reschedule_events.count)
		put_sentence(w, "It was rescheduled %u times before.", d->reschedule_events.count);
}

static void say_tasks(struct json_writer *w, const struct allocation *a)
{
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(a->report, &room);

	for (uint32_t i = 0; report && i < report->task_states.count; i++) {
		const struct task_state *task =
			ARRAY_AT(&report->task_states, struct task_state, i);
		const struct task_event *last =
			task->events.count
				? ARRAY_AT(&task->events, struct task_event, task->events.count - 1)
				: NULL;
		const char *said = last && last->display_message ? last->display_message : "";
		put_sentence(w, "Task %s is %s%s after %lld restarts%s%s.", task->task,
			task_state_names[task->state], task->failed ? " and failed" : "",
			(long long)task->restarts, *said ? ": " : "", said);
	}
	alloc_report_close(&room);
}

static void put_allocation(struct json_writer *w, const struct state *state,
	const struct scheduler_view *view, const struct allocation *a)
{
	char name[2 * NAME_BYTES_MAX + 32];
	const struct job *job =
		state_job(state, text_of(a->job->namespace_name), text_of(a->job->id));
	json_begin_object(w);
	json_put_uuid(w, "ID", &a->id);
	json_put_string(w, "Name", allocation_name(a, name, sizeof name));
	json_put_string(w, "JobID", a->job->id);
	json_put_string(w, "Namespace", a->job->namespace_name);
	json_put_u64(w, "JobVersion", a->job->version);
	json_put_uuid(w, "NodeID", &a->node_id);
	json_open_array(w, "Sentences");
	say_wishes(w, a);
	say_node(w, state, a);
	say_origin(w, state, a);
	say_history(w, a);
	say_tasks(w, a);
	if (!job)
		put_sentence(w, "Its job was purged.");
	else if (job->stop)
		put_sentence(w, "Its job is stopped.");
	else if (job->job_modify_index != a->job->job_modify_index)
		put_sentence(w, "It is of version %llu of its job, the newest is %llu.",
			(unsigned long long)a->job->version, (unsigned long long)job->version);
	json_end_array(w);
	// Where another allocation of its group could run now.
	json_write_key(w, "Group");
	struct group_explanation group;
	explain_group(view, a->job, a->group, 0, UINT32_MAX, &group);
	put_group(w, &group);
	group_explanation_free(&group);
	json_end_object(w);
}

static void work_out_allocation(struct request *request, struct reply *reply)
{
	struct state *state = request->api->settings.state;
	struct uuid id;
	struct scheduler_view view = state_view_begin(state);
	const struct allocation *a =
		uuid_parse(request->ids[0], &id) ? state_allocation(state, &id) : NULL;
	if (a)
		put_allocation(reply_json(request, reply), state, &view, a);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "alloc not found");
	reply_index(reply, state_index(state));
	state_view_end();
}

static void put_node_sentences(struct json_writer *w, const struct node *node)
{
	json_open_array(w, "Sentences");
	if (node_is_usable(node))
		put_sentence(w, "It takes new work.");
	if (node->status != NODE_READY)
		put_sentence(w, "It takes no new work: it is %s%s%s.",
			node_status_names[node->status], *node_status_description(node) ? ": " : "",
			node_status_description(node));
	else if (standing_of(&node->standing) != NODE_HEALTHY)
		put_sentence(
			w, "It takes no new work: it is %s.", explain_standing(&node->standing));
	if (node->drain)
		put_sentence(w, "It takes no new work: it drains.");
	else if (node->eligibility != NODE_ELIGIBLE)
		put_sentence(w, "It takes no new work: an operator made it ineligible.");
	if (node->snapshot && *node->snapshot)
		put_sentence(w, "The snapshot that it ran last is %s.", node->snapshot);
	if (node->event_count)
		put_sentence(w, "The last that happened to it: %s.",
			node_messages[node_events(node)[node->event_count - 1].message].message);
	json_end_array(w);
}

static void put_free(struct json_writer *w, const struct state *state, const struct node *node)
{
	struct resources capacity = node_capacity(node);
	struct resources left = resources_minus(capacity, state_node_use(state, node->slot).used);
	json_open_object(w, "Free");
	json_put_u64(w, "CPU", left.cpu_mhz);
	json_put_u64(w, "MemoryMB", left.memory_mb);
	json_put_u64(w, "DiskMB", left.disk_mb);
	json_end_object(w);
}

static void put_job_on_node(struct json_writer *w, const struct scheduler_view *view,
	const struct job *job, uint32_t slot)
{
	for (uint32_t i = 0; i < job->asks.count; i++) {
		struct group_explanation group;
		explain_group(view, job, i, slot, slot + 1, &group);
		json_begin_object(w);
		json_put_string(w, "JobID", job->id);
		json_put_string(w, "Namespace", job->namespace_name);
		json_put_string(w, "Type", job_type_names[job->type]);
		json_put_string(w, "Group", group.group);
		json_put_bool(w, "Running", group.running > 0);
		json_put_bool(w, "Fits", group.fitting > 0);
		put_reasons(w, &group);
		json_end_object(w);
		group_explanation_free(&group);
	}
}

static void put_node(struct json_writer *w, const struct request *request,
	const struct scheduler_view *view, const struct node *node)
{
	const struct state *state = request->api->settings.state;
	const struct job *job;
	uint64_t cursor = 0;
	uint32_t jobs = 0;
	json_begin_object(w);
	json_put_uuid(w, "NodeID", &node->id);
	json_put_string(w, "NodeName", node->name);
	json_put_string(w, "Status", node_status_names[node->status]);
	put_node_sentences(w, node);
	put_free(w, state, node);
	json_open_array(w, "Jobs");
	while (jobs < JOBS_EXPLAINED_MAX && (job = state_next(state, STATE_JOBS, &cursor))) {
		if (job->stop || job->periodic || job->parameterized ||
			!request_may(request, job->namespace_name, ACL_READ_JOB))
			continue;
		jobs++;
		put_job_on_node(w, view, job, node->slot);
	}
	json_end_array(w);
	json_put_bool(w, "Truncated", jobs == JOBS_EXPLAINED_MAX);
	json_end_object(w);
}

static void work_out_node(struct request *request, struct reply *reply)
{
	struct state *state = request->api->settings.state;
	struct scheduler_view view = state_view_begin(state);
	const struct node *node = node_named(request);
	if (node)
		put_node(reply_json(request, reply), request, &view, node);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "node not found");
	reply_index(reply, state_index(state));
	state_view_end();
}

void explain_job(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, work_out_job);
}

void explain_allocation(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, work_out_allocation);
}

void explain_node(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, work_out_node);
}
