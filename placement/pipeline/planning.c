#include "placement/pipeline/planning.h"
#include "placement/direct/claims.h"
#include "placement/pipeline/delivery.h"
#include "placement/pipeline/desks.h"
#include "placement/pipeline/observer.h"
#include "placement/scheduler/common/eval_log.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_WAIT_NS (5 * NS_PER_S)
#define INDEX_BASE_NS (20 * NS_PER_MS)
#define INDEX_CAP_NS NS_PER_S
#define LEASE_SHARE 16 // of a pass
#define LOOKS_A_PASS 256u
#define INSTANCES_A_LOOK_MAX 16u
#define RESUBMIT_BASE_NS (500 * NS_PER_MS)
#define RESUBMIT_CAP_NS (10 * NS_PER_S)

static uint64_t now_ns(const struct planning *g)
{
	return time_monotonic_ns(g->pipeline->settings.time);
}

void planning_begin(
	struct planning *g, struct pipeline *p, const struct evaluation *eval, uint64_t token)
{
	g->pipeline = p;
	g->eval = eval;
	g->token = token;
	g->is_deciding = false;
	g->delivery = delivery_begin(p, eval, token);
	g->snapshot_index = g->view_index = 0;
	g->created.count = g->spare.count = 0;
	g->dropped_seen = p->claims ? claims_dropped(p->claims) : 0;
	g->has_gone_far = false;
	g->lease_kept_ns = now_ns(g);
}

static void free_created(struct created *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		evaluation_free(c->items[i]);
	c->count = 0;
}

static void tell_dropped(void *context, uint32_t slot)
{
	observe_dropped(context, slot);
}

// What became of the claims is published, or nothing does.
static void release_claims(struct planning *g)
{
	if (g->claims)
		g->dropped_seen += claimant_release(g->claims, tell_dropped, g->pipeline);
}

static void note_decided(struct planning *g)
{
	if (g->is_deciding)
		broker_decided(g->pipeline->broker);
	g->is_deciding = false;
}

void planning_end(struct planning *g, int error)
{
	note_decided(g);
	release_claims(g);
	free_created(&g->created);
	free_created(&g->spare);
	delivery_end(g->delivery, error, g->dropped_seen);
}

static uint64_t await_index(struct planning *g, uint64_t index)
{
	const struct pipeline_settings *s = &g->pipeline->settings;
	int64_t wait_ns = backoff_next_ns(g->backoff, INDEX_BASE_NS, INDEX_CAP_NS);

	if (s->step)
		s->step(s->step_context);
	else
		(void)state_wait(s->state, index - 1, (uint32_t)(wait_ns / NS_PER_MS));
	return state_index(s->state);
}

// Checks the index before the time.
static int await_state(struct planning *g, uint64_t index, uint64_t began_ns)
{
	struct pipeline *p = g->pipeline;
	bool is_there = state_index(p->settings.state) >= index;

	while (!is_there && !submitter_is_stopping(p->submitter)) {
		is_there = await_index(g, index) >= index;
		if (!is_there && (p->settings.step || now_ns(g) - began_ns >= INDEX_WAIT_NS))
			return -ERROR_SYNC_TIMEOUT;
	}
	return is_there ? 0 : -ERROR_SYNC_STOPPING;
}

// B8: one counter for all calls of a scheduler.
static int note_success(struct planning *g, int error)
{
	if (error == 0)
		backoff_reset(g->backoff);
	return error;
}

// B10, B11.
int planning_wait_for_index(struct planning *g, uint64_t index)
{
	struct pipeline *p = g->pipeline;
	uint64_t began_ns = now_ns(g);
	int error = await_state(g, index, began_ns);

	timing_add(&p->counters.wait_for_index, p->settings.time, began_ns);
	return note_success(g, error);
}

// After each pass of an evaluation another one of its priority or a higher one has its turn.
static int give_way(struct planning *g)
{
	bool may_yield = g->has_gone_far;

	g->has_gone_far = false;
	return may_yield && broker_has_rival(g->pipeline->broker, g->eval->priority)
		       ? -ERROR_YIELDED
		       : 0;
}

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct planning *g = context;
	int error = give_way(g);

	if (error == 0)
		error = planning_wait_for_index(g, index);
	if (error != 0)
		return error;
	log_evaluation(g->eval, "state-awaited", "wanted=%lu index=%lu", (unsigned long)index,
		(unsigned long)state_index(g->pipeline->settings.state));
	g->desk = desks_take(g->pipeline->desks, g->eval->priority);
	g->view_began_ns = now_ns(g);
	g->pass_until_ns = 0;
	g->is_full = false;
	if (g->claims)
		g->dropped_seen = claims_dropped(g->pipeline->claims);
	*view = state_view_begin(g->pipeline->settings.state);
	view->claims = g->claims;
	view->others_taken = g->claims ? claimant_others_taken(g->claims) : 0;
	view->fleet = fleet_mirror_fleet(g->desk);
	fleet_begin_view(view->fleet);
	g->view_index = view->index(view->context);
	if (g->snapshot_index == 0)
		g->snapshot_index = g->view_index;
	return 0;
}

static void end_view(void *context)
{
	struct planning *g = context;

	state_view_end();
	desks_give(g->pipeline->desks, g->desk);
	g->desk = NULL;
}

// B15 and B36: whether this thread still holds the evaluation and the pipeline does not stop.
static int may_go_on(struct planning *g, const struct uuid *id, const char *what)
{
	struct pipeline *p = g->pipeline;
	char text[UUID_TEXT_BYTES];

	if (submitter_is_stopping(p->submitter))
		return -ERROR_PLANNING_STOPPING;
	int error = broker_outstanding(p->broker, id, g->token);
	if (error != 0)
		log_warn("evaluation-lost", "eval=%s job=%s namespace=%s request=%s error=\"%s\"",
			uuid_format(id, text), g->eval->job_id ? g->eval->job_id : "",
			g->eval->namespace_name ? g->eval->namespace_name : "", what,
			broker_outstanding_text(error));
	return error;
}

// Instances are progress, which keeps the lease. The broker is asked often enough to stop soon after a lost one.
static int keep_lease(struct planning *g, uint64_t now)
{
	const struct pipeline_settings *s = &g->pipeline->settings;

	if (now - g->lease_kept_ns < (uint64_t)s->pass_ns / LEASE_SHARE)
		return 0;
	g->lease_kept_ns = now;
	return may_go_on(g, &g->eval->id, "pass");
}

// A pass lasts at least as long as its preparation, so that preparing is at most half of the work.
static uint64_t pass_end(const struct planning *g, uint64_t now)
{
	uint64_t prepared_ns = now - g->view_began_ns,
		 pass_ns = (uint64_t)g->pipeline->settings.pass_ns;

	return now + (prepared_ns > pass_ns ? prepared_ns : pass_ns);
}

// While instances take long the clock is read for each, else for every sixteenth: to read it takes a thirtieth of the
// time of an instance of a system job.
static bool passes_clock(struct planning *g)
{
	g->instances_unclocked++;
	return g->pass_until_ns != 0 && g->instances_unclocked < g->instances_a_look;
}

static void space_looks(struct planning *g, uint64_t now)
{
	uint64_t long_ns = (uint64_t)g->pipeline->settings.pass_ns / LOOKS_A_PASS;
	uint32_t apart = 2 * g->instances_a_look;

	if (g->pass_until_ns == 0 || now - g->looked_ns > long_ns)
		apart = 1;
	g->instances_a_look = apart < INSTANCES_A_LOOK_MAX ? apart : INSTANCES_A_LOOK_MAX;
	g->instances_unclocked = 0;
	g->looked_ns = now;
}

static int go_on(void *context)
{
	struct planning *g = context;

	if (passes_clock(g))
		return PASS_ON;
	uint64_t now = now_ns(g);
	int error = keep_lease(g, now);
	if (error != 0)
		return error;
	space_looks(g, now);
	if (g->pass_until_ns == 0)
		g->pass_until_ns = pass_end(g, now);
	g->is_full = now >= g->pass_until_ns;
	return g->is_full ? PASS_FULL : PASS_ON;
}

// B12 and B20.
static struct evaluation *stamped(struct planning *g, const struct evaluation *eval, bool is_new)
{
	struct evaluation *e = evaluation_copy(eval);
	int64_t now = (int64_t)time_wall_ns(g->pipeline->settings.time);

	e->snapshot_index = g->snapshot_index;
	if (is_new)
		e->create_time_ns = now;
	e->modify_time_ns = now > e->create_time_ns || is_new ? now : e->create_time_ns + 1;
	return e;
}

// B23: a sample of each call, but of those that were not made since the program ends (B15).
static void note_call(struct planning *g, struct timing *timing, uint64_t began_ns, int error)
{
	if (error != -ERROR_PLANNING_STOPPING)
		timing_add(timing, g->pipeline->settings.time, began_ns);
}

static void send_spare(struct planning *g)
{
	uint32_t count = g->spare.count;

	g->spare.count = 0;
	if (count)
		(void)delivery_store(g->delivery, g->spare.items, count, 0);
}

int planning_flush(struct planning *g)
{
	uint32_t count = g->created.count;

	send_spare(g);
	g->created.count = 0;
	return count ? delivery_store(g->delivery, g->created.items, count, DELIVERY_NEEDS) : 0;
}

// What goes on after a plan must be stored before the plan is submitted (A11).
static int store_created(struct planning *g)
{
	uint32_t count = g->created.count;

	send_spare(g);
	g->created.count = 0;
	return count ? pipeline_store(g->pipeline, g->created.items, count, false) : 0;
}

static void count_result(
	const struct planning *g, const struct plan *plan, const struct plan_result *r)
{
	struct pipeline *p = g->pipeline;

	log_evaluation(g->eval, "plan-committed",
		"stops=%u updates=%u preemptions=%u attempted=%u placed=%u refused_nodes=%u "
		"refresh=%lu",
		plan->stops.count, plan->updates.count, plan->preemptions.count,
		plan->placements.count, r->placements_committed, r->rejections.count,
		(unsigned long)r->refresh_index);
	atomic_fetch_add(&p->counters.plans_submitted, 1);
	if (r->placements_committed < r->placements_planned || r->rejections.count > 0)
		atomic_fetch_add(&p->counters.plans_partial, 1);
	atomic_fetch_add(&p->counters.nodes_rejected, r->rejections.count);
}

static bool is_plan_queue_off(int error)
{
	return error == -ERROR_PLANS_OFF || error == -ERROR_PLANS_FLUSHED;
}

// B17: a queue that is switched off, unless the pipeline stops.
static int submit_again(struct planning *g, struct command *command)
{
	struct submitter *s = g->pipeline->submitter;
	int error;

	while (is_plan_queue_off(error = submitter_run_plan(s, command))) {
		if (g->pipeline->settings.step ||
			!submitter_sleep(
				s, backoff_next_ns(g->backoff, RESUBMIT_BASE_NS, RESUBMIT_CAP_NS)))
			return error;
	}
	return note_success(g, error);
}

static int run_plan(struct planning *g, struct plan *plan, struct plan_result *result)
{
	struct pipeline *p = g->pipeline;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, result}};
	int error = may_go_on(g, &g->eval->id, "plan");

	if (error != 0)
		return error;
	plan->eval_token = g->token;
	plan->snapshot_index = g->view_index;
	broker_pause_nack(p->broker, &g->eval->id, g->token);
	error = store_created(g);
	if (error == 0)
		error = submit_again(g, &command);
	broker_resume_nack(p->broker, &g->eval->id, g->token);
	return error;
}

static int submit_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct planning *g = context;
	uint64_t began_ns = now_ns(g);
	uint32_t placements = plan->placements.count;
	note_decided(g);
	desks_plan_begins(g->pipeline->desks, placements);
	int error = run_plan(g, plan, result);

	desks_plan_ends(g->pipeline->desks, placements);
	release_claims(g);
	note_call(g, &g->pipeline->counters.submit_plan, began_ns, error);
	if (error == 0) {
		count_result(g, plan, result);
		g->has_gone_far = g->is_full && result->placements_committed > 0;
	} else { // the applier may have decided it before the refusal
		plan_result_release(result);
	}
	return error;
}

// What was created goes with it, and the sample is taken when all of it is durable.
static int store_update(struct planning *g, const struct evaluation *eval)
{
	int error = may_go_on(g, &eval->id, "update");

	if (error != 0)
		return error;
	log_evaluation(eval, "evaluation-updated", "status=%s", eval_status_names[eval->status]);
	send_spare(g);
	g->created.items[g->created.count++] = stamped(g, eval, false);
	uint32_t count = g->created.count;
	g->created.count = 0;
	return delivery_store(
		g->delivery, g->created.items, count, DELIVERY_NEEDS | DELIVERY_UPDATES);
}

static int update_eval(void *context, const struct evaluation *eval)
{
	struct planning *g = context;
	uint64_t began_ns = now_ns(g);
	int error = store_update(g, eval);

	if (error != 0)
		note_call(g, &g->pipeline->counters.update_eval, began_ns, error);
	return note_success(g, error);
}

// One that waits for room on a node; the node's next change makes one anyway (A37).
static bool is_spare(const struct evaluation *eval)
{
	return eval->status == EVAL_BLOCKED && !uuid_is_zero(&eval->node_id);
}

static int keep_created(struct planning *g, const struct evaluation *eval)
{
	int error = may_go_on(g, &eval->previous_eval, "create");
	char text[UUID_TEXT_BYTES];

	if (error != 0)
		return error;
	if (eval->status == EVAL_BLOCKED && blocked_has_equal(g->pipeline->blocked, eval))
		return 0;
	log_evaluation(g->eval, "evaluation-created", "created=%s status=%s triggered_by=%s",
		uuid_format(&eval->id, text), eval_status_names[eval->status],
		eval_trigger_names[eval->triggered_by]);
	struct created *to = is_spare(eval) ? &g->spare : &g->created;
	to->items[to->count++] = stamped(g, eval, true);
	return to->count == CREATED_MAX ? planning_flush(g) : 0;
}

static int create_eval(void *context, const struct evaluation *eval)
{
	struct planning *g = context;
	uint64_t began_ns = now_ns(g);
	int error = keep_created(g, eval);

	note_call(g, &g->pipeline->counters.create_eval, began_ns, error);
	return note_success(g, error);
}

// B21: whether the job's summary and the evaluation disagree about what is queued.
static bool summary_differs(struct planning *g, const struct evaluation *eval)
{
	struct task_group_summary groups[JOB_GROUPS_MAX];
	uint32_t count = JOB_GROUPS_MAX;
	bool differs = false;

	state_read_begin();
	if (!state_job_summary(g->pipeline->settings.state, text_of(eval->namespace_name),
		    text_of(eval->job_id), groups, &count))
		count = 0;
	for (uint32_t n = 0; n < count; n++)
		for (uint32_t i = 0; i < eval->queued.count; i++) {
			const struct named_count *q =
				ARRAY_AT(&eval->queued, struct named_count, i);
			if (strcmp(q->name, groups[n].group) == 0 && q->count != groups[n].queued)
				differs = true;
		}
	state_read_end();
	return differs;
}

static int store_and_reblock(struct planning *g, const struct evaluation *eval)
{
	struct pipeline *p = g->pipeline;
	struct evaluation *e = stamped(g, eval, false);
	int error = 0;

	if (summary_differs(g, eval)) {
		struct evaluation *update = evaluation_copy(e);
		error = pipeline_store(p, &update, 1, false);
	}
	if (error == 0)
		blocked_add(p->blocked, e, g->token);
	evaluation_free(e);
	return error;
}

static int put_back(struct planning *g, const struct evaluation *eval)
{
	struct pipeline *p = g->pipeline;
	int error = may_go_on(g, &eval->id, "reblock");

	if (error == 0)
		error = planning_flush(g);
	if (error == 0 && (eval->status != EVAL_BLOCKED || !pipeline_has(p, &eval->id))) {
		log_warn("evaluation-not-reblocked", "reason=\"%s\"",
			eval->status != EVAL_BLOCKED ? "evaluation not blocked"
						     : "evaluation does not exist");
		error = -EINVAL;
	}
	if (error == 0)
		error = store_and_reblock(g, eval);
	return error;
}

static int reblock_eval(void *context, const struct evaluation *eval)
{
	struct planning *g = context;
	uint64_t began_ns = now_ns(g);
	int error = put_back(g, eval);

	log_evaluation(
		eval, "evaluation-reblocked", "error=\"%s\"", error ? error_text(error) : "");
	note_call(g, &g->pipeline->counters.reblock_eval, began_ns, error);
	return note_success(g, error);
}

struct planner planning_planner(struct planning *g)
{
	return (struct planner){g, begin_view, end_view, submit_plan, update_eval, create_eval,
		reblock_eval, go_on};
}
