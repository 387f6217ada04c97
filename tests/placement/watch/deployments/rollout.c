#include "tests/placement/watch/deployments/rollout.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define STEP_MS 50u

static const struct resources little = {1, 1, 1};

static void step(void *context)
{
	struct rollout_world *w = context;
	(void)applier_step(w->controller->applier);
}

static void open_controller(struct rollout_world *w)
{
	struct watchers_settings settings = {
		.state = w->controller->state,
		.queue = w->controller->queue,
		.time = &w->controller->source,
		.seed = ++w->ids,
		.node_ttl_ns = 5 * NS_PER_S,
		.step = step,
		.step_context = w,
	};
	w->watchers = watchers_create(&settings);
	controller_open(w->controller);
	assert_int_equal(watchers_start(w->watchers), 0);
}

static void close_controller(struct rollout_world *w)
{
	controller_verify(w->controller);
	watchers_destroy(w->watchers);
	controller_free(w->controller);
}

void rollout_init(struct rollout_world *w)
{
	*w = (struct rollout_world){.ids = 1000, .controller = &w->controllers[0]};
	controller_init(w->controller, (struct state_limits){.jobs = 4096});
	open_controller(w);
	assert_int_equal(controller_register(w->controller, 1, &w->node), OUTCOME_DONE);
}

void rollout_free(struct rollout_world *w)
{
	close_controller(w);
}

static void keep_log(struct memory_log *to, const struct memory_log *from)
{
	struct command_log log = memory_log_of(to);

	for (uint32_t i = 0; i < from->count; i++) {
		const struct memory_batch *b = &from->batches[i];
		assert_int_equal(
			log.append(log.context, b->first_index, b->entries, b->data, b->size), 0);
	}
}

void rollout_restart(struct rollout_world *w)
{
	struct controller *before = w->controller;
	struct controller *after = &w->controllers[before == &w->controllers[0]];

	controller_init(after, (struct state_limits){.jobs = 4096});
	assert_int_equal(controller_replay(after, &before->log, before->log.count), 0);
	keep_log(&after->log, &before->log);
	after->time = before->time;
	controller_seed(after, ++w->ids);
	close_controller(w);
	w->controller = after;
	open_controller(w);
}

void rollout_settle(struct rollout_world *w)
{
	uint32_t turns = 0;

	for (bool did = true; did; turns++) {
		did = applier_step(w->controller->applier) > 0;
		did |= watchers_turn(w->watchers);
		assert_true(turns < 1000);
	}
}

void rollout_advance(struct rollout_world *w, uint64_t ms)
{
	rollout_settle(w);
	for (uint64_t left = ms; left > 0;) {
		uint64_t part = left < STEP_MS ? left : STEP_MS;
		manual_time_advance_ms(&w->controller->time, part);
		left -= part;
		rollout_settle(w);
	}
}

static void add_policies(struct task_group *g, const struct rollout_ask *ask)
{
	free(g->name);
	g->update = memory_take(sizeof *g->update);
	record_init(&update_description, g->update);
	g->update->max_parallel = 1;
	g->update->canary = ask->canaries;
	g->update->progress_deadline_ns =
		ask->no_progress_deadline ? 0 : PROGRESS_DEADLINE_S * NS_PER_S;
	g->update->auto_revert = (struct optional_bool){true, ask->auto_revert};
	g->update->auto_promote = (struct optional_bool){true, ask->auto_promote};
	g->reschedule = memory_take(sizeof *g->reschedule);
	record_init(&reschedule_description, g->reschedule);
	g->reschedule->attempts = ask->attempts < 0 ? 0 : ask->attempts;
	g->reschedule->interval_ns = 3600 * NS_PER_S;
	g->reschedule->unlimited = (struct optional_bool){true, ask->attempts < 0};
}

static struct job *build(const struct rollout_ask *ask)
{
	struct resources asks[JOB_GROUPS_MAX];
	uint32_t groups = ask->groups ? ask->groups : 1;
	char name[16];

	for (uint32_t i = 0; i < groups; i++)
		asks[i] = little;
	struct job *job = build_job(ask->job, asks, groups);
	job->type = JOB_SERVICE;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	for (uint32_t i = 0; i < groups; i++) {
		struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, i);
		add_policies(g, ask);
		snprintf(name, sizeof name, "g%u", i);
		g->name = text_copy(text_of(name));
		g->count = ask->count;
	}
	if (ask->version) {
		struct string_pair *pair = array_append(&job->meta, sizeof *pair);
		*pair = (struct string_pair){
			text_copy(TEXT("version")), text_copy(text_of(ask->version))};
	}
	return job;
}

static void begin_groups(struct deployment *d, const struct job *job)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		struct deployment_group *g = map_item(&d->groups, sizeof *g, group->name);
		g->auto_revert = group->update->auto_revert.value;
		g->auto_promote = group->update->auto_promote.value;
		g->progress_deadline_ns = group->update->progress_deadline_ns;
		g->desired_canaries = group->update->canary;
		g->desired_total = group->count;
	}
}

static struct deployment *begin(struct rollout_world *w, const struct job *job, int64_t priority)
{
	struct deployment *d = deployment_create();

	d->id = number_uuid(++w->ids);
	d->namespace_name = text_copy(TEXT("default"));
	d->job_id = text_copy(text_of(job->id));
	d->job_version = job->version;
	d->job_modify_index = job->record.modify_index;
	d->job_spec_modify_index = job->job_modify_index;
	d->job_create_index = job->record.create_index;
	d->status = DEPLOYMENT_RUNNING;
	d->status_description = text_copy(TEXT(DEPLOYMENT_TEXT_RUNNING));
	d->eval_priority = priority;
	begin_groups(d, job);
	return d;
}

static bool take_id(const struct evaluation *e, void *context)
{
	*(struct uuid *)context = e->id;
	return false;
}

static struct plan *plan_for(const struct rollout_world *w, const struct job *job)
{
	struct plan *plan = plan_create();

	state_job_evaluations(w->controller->state, text_of(job->namespace_name), text_of(job->id),
		take_id, &plan->eval_id);
	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(text_of(job->id));
	plan->job_version = job->job_modify_index;
	return plan;
}

static void commit(struct rollout_world *w, struct plan *plan)
{
	struct plan_result result = {0};
	struct command command = {.type = COMMAND_PLAN, .plan = {.plan = plan, .result = &result}};

	assert_int_equal(controller_run(w->controller, &command), OUTCOME_DONE);
	assert_int_equal(result.rejections.count, 0);
	assert_int_equal(result.refresh_index, 0);
	plan_result_release(&result);
	plan_free(plan);
}

// The newest version, valid until the read section ends.
static const struct job *newest(struct rollout_world *w, const char *id)
{
	const struct job *job = state_job(w->controller->state, TEXT("default"), text_of(id));
	assert_non_null(job);
	return job;
}

static void end_active(struct rollout_world *w, const struct job *job, struct plan *plan)
{
	const struct deployment *d = state_latest_deployment(
		w->controller->state, text_of(job->namespace_name), text_of(job->id));

	if (!d || !deployment_is_active(d))
		return;
	struct deployment_update *u = array_append(&plan->deployment_updates, sizeof *u);
	*u = (struct deployment_update){
		d->id, DEPLOYMENT_CANCELLED, text_copy(TEXT(DEPLOYMENT_TEXT_NEWER_JOB))};
}

struct uuid rollout_begin(struct rollout_world *w, struct rollout_ask ask)
{
	assert_int_equal(controller_job(w->controller, build(&ask)), OUTCOME_DONE);
	state_read_begin();
	const struct job *job = newest(w, ask.job);
	struct plan *plan = plan_for(w, job);
	end_active(w, job, plan);
	plan->deployment = begin(w, job, ask.priority);
	struct uuid id = plan->deployment->id;
	state_read_end();
	commit(w, plan);
	rollout_evaluate(w, ask.job);
	return id;
}

struct uuid rollout_place(
	struct rollout_world *w, const struct uuid *deployment, uint32_t group, bool canary)
{
	struct deployment *d = rollout_deployment(w, deployment);
	struct alloc_details *details = alloc_details_create();

	details->deployment_id = *deployment;
	details->deployment_status = memory_take(sizeof *details->deployment_status);
	details->deployment_status->canary = canary;
	state_read_begin();
	struct plan *plan = plan_for(w, newest(w, d->job_id));
	state_read_end();
	struct plan_placement *p = array_append(&plan->placements, sizeof *p);
	*p = (struct plan_placement){
		.id = number_uuid(++w->ids),
		.node_id = number_uuid(1),
		.slot = w->node.slot,
		.generation = w->node.generation,
		.group = (uint16_t)group,
		.name_index = w->ids,
		.job_version = plan->job_version,
		.resources = little,
		.details = details,
		.score = 0.5,
		.metrics = PLAN_NO_METRICS,
	};
	struct uuid id = p->id;
	commit(w, plan);
	deployment_free(d);
	return id;
}

void rollout_stop(struct rollout_world *w, const struct uuid *allocation)
{
	state_read_begin();
	const struct allocation *a = state_allocation(w->controller->state, allocation);
	struct plan *plan = plan_for(w, a->job);
	*(struct plan_stop *)array_append(
		&plan->stops, sizeof(struct plan_stop)) = (struct plan_stop){
		.id = a->id, .node_id = a->node_id, .slot = a->node_slot, .cause = STOP_NOT_NEEDED};
	state_read_end();
	commit(w, plan);
}

void rollout_defer(struct rollout_world *w, const struct uuid *allocation)
{
	state_read_begin();
	const struct allocation *a = state_allocation(w->controller->state, allocation);
	struct plan *plan = plan_for(w, a->job);
	struct plan_update *update = array_append(&plan->updates, sizeof *update);
	*update = (struct plan_update){.id = a->id,
		.node_id = a->node_id,
		.slot = a->node_slot,
		.resources = a->resources,
		.details = alloc_details_copy(a->details),
		.client_status = PLAN_KEEP,
		.metrics = PLAN_NO_METRICS,
		.attribute_only = true};
	update->details->followup_eval = plan->eval_id;
	state_read_end();
	commit(w, plan);
}

void rollout_report(struct rollout_world *w, const struct uuid *allocation,
	enum alloc_client status, struct optional_bool healthy)
{
	struct alloc_update_item item = {
		.allocation = *allocation, .client_status = (uint8_t)status, .healthy = healthy};
	struct command_alloc_update update = {
		w->node.slot, w->node.generation, ++w->reports, 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	assert_int_equal(controller_run(w->controller, &command), OUTCOME_DONE);
	assert_true(item.known);
}

void rollout_healthy(struct rollout_world *w, const struct uuid *allocation)
{
	rollout_report(w, allocation, ALLOC_RUNNING, (struct optional_bool){true, true});
}

void rollout_unhealthy(struct rollout_world *w, const struct uuid *allocation)
{
	rollout_report(w, allocation, ALLOC_FAILED, (struct optional_bool){true, false});
}

struct gathered {
	struct evaluation *items[64];
	uint32_t count;
};

static bool gather(const struct evaluation *e, void *context)
{
	struct gathered *g = context;

	if (!evaluation_is_terminal(e) && g->count < 64)
		g->items[g->count++] = evaluation_copy(e);
	return true;
}

void rollout_end(struct rollout_world *w, const char *job, enum eval_status status)
{
	struct gathered g = {.count = 0};
	uint64_t index = state_index(w->controller->state);

	state_read_begin();
	state_job_evaluations(w->controller->state, TEXT("default"), text_of(job), gather, &g);
	state_read_end();
	for (uint32_t i = 0; i < g.count; i++) {
		g.items[i]->status = status;
		g.items[i]->snapshot_index = index;
		struct command command = {.type = COMMAND_EVALUATIONS,
			.evaluations = {.items = &g.items[i], .count = 1}};
		assert_int_equal(controller_run(w->controller, &command), OUTCOME_DONE);
	}
}

void rollout_evaluate(struct rollout_world *w, const char *job)
{
	rollout_end(w, job, EVAL_COMPLETE);
}

enum command_outcome rollout_change(
	struct rollout_world *w, const struct uuid *id, enum deployment_action action)
{
	struct command_deployment change = {.id = *id, .action = action};
	struct command command = {.type = COMMAND_DEPLOYMENT, .deployment = &change};

	return controller_run(w->controller, &command);
}

struct deployment *rollout_deployment(struct rollout_world *w, const struct uuid *id)
{
	state_read_begin();
	const struct deployment *d = state_deployment(w->controller->state, id);
	struct deployment *copy = d ? deployment_copy(d) : NULL;
	state_read_end();
	assert_non_null(copy);
	return copy;
}

void expect_status(struct rollout_world *w, const struct uuid *id, enum deployment_status status,
	const char *description)
{
	struct deployment *d = rollout_deployment(w, id);

	assert_string_equal(deployment_status_names[d->status], deployment_status_names[status]);
	assert_string_equal(d->status_description, description);
	deployment_free(d);
}

bool rollout_may_be_replaced(struct rollout_world *w, const struct uuid *allocation)
{
	state_read_begin();
	const struct allocation *a = state_allocation(w->controller->state, allocation);
	bool may = a->details->transition.reschedule.set && a->details->transition.reschedule.value;
	state_read_end();
	return may;
}

static bool count_asked(const struct evaluation *e, void *context)
{
	*(uint32_t *)context += e->triggered_by == TRIGGER_DEPLOYMENT_WATCHER;
	return true;
}

uint32_t rollout_asked(struct rollout_world *w, const char *job)
{
	uint32_t count = 0;

	state_read_begin();
	state_job_evaluations(
		w->controller->state, TEXT("default"), text_of(job), count_asked, &count);
	state_read_end();
	return count;
}
