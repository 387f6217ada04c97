// The scheduler of system and sysbatch jobs places an instance of every group on every node that qualifies (rows
// A1–A14, A28–A31). One attempt: see → plan → follow-ups → submit.
#include "placement/scheduler/system/system.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/eval_log.h"
#include "placement/scheduler/system/system_attempt.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

#define SYSTEM_ATTEMPTS 5u
#define SYSBATCH_ATTEMPTS 2u
#define TRIGGER(name) (1u << TRIGGER_##name)

static const uint32_t accepted_triggers =
	TRIGGER(JOB_REGISTER) | TRIGGER(NODE_UPDATE) | TRIGGER(FAILED_FOLLOW_UP) |
	TRIGGER(JOB_DEREGISTER) | TRIGGER(ROLLING_UPDATE) | TRIGGER(PREEMPTION) |
	TRIGGER(DEPLOYMENT_WATCHER) | TRIGGER(NODE_DRAIN) | TRIGGER(ALLOC_STOP) |
	TRIGGER(QUEUED_ALLOCS) | TRIGGER(JOB_SCALING) | TRIGGER(RECONNECT);

// Holds the attempt, so that what it holds can be freed wherever it ended.
struct process {
	struct system_attempt attempt;
	struct node_ids { // nodes with a blocked evaluation of an earlier attempt
		struct uuid *items;
		uint32_t count;
	} blocked;
};

static const char *group_name(const struct system_attempt *a, const struct diff_item *item)
{
	CHECK(item->group != DIFF_NO_GROUP || item->existing);
	return item->group == DIFF_NO_GROUP ? allocation_group(item->existing)->name
					    : a->groups[item->group].group->name;
}

static void annotate_diff(struct system_attempt *a)
{
	static const struct {
		enum diff_kind kind;
		size_t counter;
	} counters[] = {
		{DIFF_PLACE, offsetof(struct desired_updates, place)},
		{DIFF_STOP, offsetof(struct desired_updates, stop)},
		{DIFF_IGNORE, offsetof(struct desired_updates, ignore)},
		{DIFF_MIGRATE, offsetof(struct desired_updates, migrate)},
	};
	for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++) {
		const struct diff_list *list = &a->diff.lists[counters[i].kind];
		for (uint32_t k = 0; a->plan->annotate && k < list->count; k++) {
			struct desired_updates *desired =
				system_annotation(a, group_name(a, &list->items[k]));
			++*(int64_t *)((char *)desired + counters[i].counter);
		}
	}
}

static void stop_all(struct system_attempt *a, const struct diff_list *list, enum stop_cause cause)
{
	CHECK(cause < STOP_CAUSES);
	for (uint32_t i = 0; i < list->count; i++)
		stack_plan_stop(a->stack, list->items[i].existing, cause, cause == STOP_LOST, NULL);
}

// Makes allocations on disconnected nodes unknown: they may be running there.
static void disconnect_all(struct system_attempt *a, const struct diff_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct allocation *existing = list->items[i].existing;
		struct plan_update update = {.id = existing->id,
			.node_id = existing->node_id,
			.slot = list->items[i].slot,
			.resources = existing->resources,
			.devices = *allocation_devices(existing),
			.details = details_with_client_status(
				existing, ALLOC_UNKNOWN, a->run->settings->now_ns),
			.client_status = ALLOC_UNKNOWN,
			.metrics = PLAN_NO_METRICS};
		stack_plan_update(a->stack, &update);
	}
}

static void begin_groups(struct system_attempt *a)
{
	CHECK(!a->groups && a->stack);
	if (!a->job)
		return;
	stack_set_job(a->stack, a->job);
	stack_be_strict_on(a->stack, &a->run->rejected);
	stack_nodes_available(a->stack, &a->available);
	a->groups = memory_take_array(a->job->task_groups.count + 1, sizeof *a->groups);
	for (uint32_t i = 0; i < a->job->task_groups.count; i++) {
		a->groups[i].group = ARRAY_AT(&a->job->task_groups, struct task_group, i);
		a->groups[i].metrics = PLAN_NO_METRICS;
	}
}

static void store_queued(struct system_attempt *a)
{
	for (uint32_t i = 0; a->job && i < a->job->task_groups.count; i++)
		count_add(&a->run->queued, a->groups[i].group->name, a->groups[i].queued);
}

// Since the evaluation was made, the job was purged and registered again with another type; the new job has an
// evaluation of its own.
static bool is_of_another_scheduler(const struct job *job)
{
	return job && !job->stop && !job_traits_of(job)->is_on_every_node;
}

static void log_diff(const struct system_attempt *a)
{
	const struct diff_list *lists = a->diff.lists;

	log_evaluation(a->run->eval, "job-reconciled",
		"place=%u update=%u migrate=%u stop=%u ignore=%u lost=%u disconnecting=%u "
		"reconnecting=%u",
		lists[DIFF_PLACE].count, lists[DIFF_UPDATE].count, lists[DIFF_MIGRATE].count,
		lists[DIFF_STOP].count, lists[DIFF_IGNORE].count, lists[DIFF_LOST].count,
		lists[DIFF_DISCONNECTING].count, lists[DIFF_RECONNECTING].count);
}

// Does everything that needs the view.
static void make_plan(struct system_attempt *a)
{
	CHECK(!a->plan && a->run->in_view);
	const struct evaluation *eval = a->run->eval;
	const struct job *job = a->view.job(a->view.context, eval->namespace_name, eval->job_id);
	scheduler_run_reset(a->run);
	a->plan = scheduler_run_plan(a->run, &a->view, job);
	if (is_of_another_scheduler(job))
		return;
	a->stack = stack_create(STACK_SYSTEM, &a->view, a->plan);
	a->job = job && !job->stop ? job : NULL;
	begin_groups(a);
	struct system_diff_ask ask = {.view = &a->view,
		.job = a->job,
		.namespace_name = eval->namespace_name,
		.job_id = eval->job_id,
		.sysbatch = a->job && job_traits_of(a->job)->runs_to_end,
		.now_ns = a->run->settings->now_ns};
	system_diff(&ask, &a->diff);
	log_diff(a);
	stop_all(a, &a->diff.lost_late, STOP_LOST);
	stop_all(a, &a->diff.lists[DIFF_STOP], STOP_NOT_NEEDED);
	stop_all(a, &a->diff.lists[DIFF_MIGRATE], STOP_NODE_TAINTED);
	stop_all(a, &a->diff.lists[DIFF_LOST], STOP_LOST);
	disconnect_all(a, &a->diff.lists[DIFF_DISCONNECTING]);
	annotate_diff(a);
	a->place = a->diff.lists[DIFF_PLACE];
	a->diff.lists[DIFF_PLACE] = (struct diff_list){0};
	system_update(a);
	system_place(a);
	store_queued(a);
}

// Frees what needs the view. The stack is created before all of it.
static void release_view_part(struct system_attempt *a)
{
	if (!a->stack)
		return;
	for (uint32_t i = 0; a->groups && i < a->job->task_groups.count; i++)
		metrics_release(&a->groups[i].filtered);
	free(a->groups);
	free(a->place.items);
	system_diff_release(&a->diff);
	version_changes_release(&a->changes);
	stack_destroy(a->stack);
	a->groups = NULL;
	a->available = (struct alloc_metrics){0};
	a->place = (struct diff_list){0};
	a->stack = NULL;
	a->job = NULL;
}

static bool has_blocked(const struct node_ids *nodes, const struct uuid *id)
{
	return nodes->count && bsearch(id, nodes->items, nodes->count, sizeof *id, uuid_order);
}

// Creates one blocked evaluation for each node, in all attempts of a call together. An evaluation that cannot be
// stored is given up, as the next change of its node makes one anyway (row A37).
static void create_blocked(struct system_attempt *a, struct node_ids *nodes)
{
	CHECK(!a->run->in_view);
	uint32_t known = nodes->count;
	if (!a->blocked_count)
		return;
	nodes->items =
		memory_resize(nodes->items, (known + a->blocked_count) * sizeof *nodes->items);
	for (uint32_t i = 0; i < a->blocked_count; i++) {
		struct node_ids earlier = {nodes->items, known};
		if (has_blocked(&earlier, &a->blocked[i]->node_id))
			continue;
		(void)scheduler_run_create(a->run, a->blocked[i]);
		nodes->items[nodes->count++] = a->blocked[i]->node_id;
	}
	qsort(nodes->items, nodes->count, sizeof *nodes->items, uuid_order);
	CHECK(nodes->count <= known + a->blocked_count);
}

// One evaluation of a call, which waits for the quota and not for a node (row B45).
static void block_on_quota(struct system_attempt *a)
{
	struct scheduler_run *run = a->run;
	CHECK(!run->in_view);
	if (!run->quota || !uuid_is_zero(&run->blocked_eval))
		return;
	struct evaluation *blocked =
		scheduler_run_follow_up(run, TRIGGER_QUEUED_ALLOCS, EVAL_BLOCKED);
	blocked->status_description = text_copy(TEXT("created to place remaining allocations"));
	scheduler_run_tell_failed(run, blocked);
	scheduler_run_tell_quota(run, blocked);
	if (scheduler_run_create(run, blocked) >= 0)
		run->blocked_eval = blocked->id;
	evaluation_free(blocked);
}

// Creates the evaluation that goes on with the rolling update after its stagger; one for all attempts.
static int create_rolling(struct system_attempt *a, int64_t stagger_ns)
{
	CHECK(!a->run->in_view);
	if (!a->limit_reached || !uuid_is_zero(&a->run->next_eval))
		return 0;
	struct evaluation *next =
		scheduler_run_follow_up(a->run, TRIGGER_ROLLING_UPDATE, EVAL_PENDING);
	next->wait_ns = stagger_ns;
	int error = scheduler_run_create(a->run, next);
	if (error >= 0) {
		char id[UUID_TEXT_BYTES];
		a->run->next_eval = next->id;
		log_evaluation(a->run->eval, "rolling-update-limit-reached", "next_eval=%s",
			uuid_format(&next->id, id));
	}
	evaluation_free(next);
	return error < 0 ? error : 0;
}

static int submit_attempt(struct system_attempt *a, int64_t stagger_ns)
{
	CHECK(a->plan && !a->stack);
	if (plan_is_no_op(a->plan) && !a->plan->annotate)
		return ATTEMPT_DONE;
	int error = create_rolling(a, stagger_ns);
	return error < 0 ? error : scheduler_run_submit(a->run, a->plan);
}

static void release_attempt(void *context)
{
	struct process *process = context;
	struct system_attempt *a = &process->attempt;
	struct plan *plan = a->plan;
	release_view_part(a);
	system_blocked_release(a);
	a->plan = NULL;
	plan_free(plan);
	CHECK(!a->stack && !a->plan && a->blocked_count == 0);
}

static int attempt_system(struct scheduler_run *run, void *context)
{
	struct process *process = context;
	struct system_attempt *a = &process->attempt;
	*a = (struct system_attempt){.run = run};
	int result = scheduler_run_begin_view(run, &a->view);
	if (result < 0)
		return result;
	make_plan(a);
	int64_t stagger_ns = a->limit_reached ? a->job->update->stagger_ns : 0;
	release_view_part(a);
	scheduler_run_end_view(run);
	result = run->pass_error;
	if (result == 0) {
		create_blocked(a, &process->blocked);
		block_on_quota(a);
		result = submit_attempt(a, stagger_ns);
	}
	release_attempt(process);
	CHECK(!run->in_view);
	return result;
}

int system_scheduler_process(
	const struct scheduler_settings *settings, const struct evaluation *eval)
{
	CHECK(job_traits[eval->type].is_on_every_node);
	CHECK(eval->triggered_by >= 0 && eval->triggered_by < 32);
	bool sysbatch = job_traits[eval->type].runs_to_end;
	uint32_t limit = sysbatch ? SYSBATCH_ATTEMPTS : SYSTEM_ATTEMPTS;
	uint32_t accepted = accepted_triggers | (sysbatch ? TRIGGER(PERIODIC_JOB) : 0);
	struct process process = {0};
	struct scheduler_run run;
	scheduler_run_init(&run, settings, eval);
	int result;
	if (!(accepted >> eval->triggered_by & 1)) {
		result = scheduler_run_refuse_trigger(&run);
	} else {
		struct scheduler_attempts attempts = {
			limit, &process, attempt_system, release_attempt};
		result = scheduler_run_attempts(&run, &attempts);
		if (result == ATTEMPTS_EXHAUSTED)
			result = scheduler_run_exhausted(&run, limit);
		else if (result == ATTEMPT_BROKEN)
			result = scheduler_run_broken(&run);
		else if (result == ATTEMPT_DONE)
			result = scheduler_run_end(&run, EVAL_COMPLETE, "");
	}
	scheduler_run_release(&run);
	free(process.blocked.items);
	return result;
}
