// The deployment watcher (rows C52–C56, docs/spec/watchers.md): reports of a deployment's allocations lead to
// evaluations that continue it, to its promotion, or to its end.
//
//	changes → noted ids → records are read, deployments touched → looked at → commands: commands
//	                                             deadline, batch ──┘
#include "placement/watch/deployments/deployments.h"
#include "placement/watch/deployments/deployment_commands.h"
#include "placement/watch/deployments/watched.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/reschedule.h"
#include <stdlib.h>

#define BATCH_NS (1000 * NS_PER_MS) // one evaluation of a job for all that happens in it
#define WINDOW_NS (250 * NS_PER_MS) // evaluations of several deployments are sent together
#define RETRY_NS (1000 * NS_PER_MS)
#define READ_AT_ONCE 1024u       // records per read section
#define NOTED_MAX (1024u * 1024) // ids; beyond it everything is read instead

struct noted {
	struct uuid id;
	bool is_allocation;
};

struct deployment_watch {
	const struct watch_tools *tools;
	pthread_mutex_t mutex; // of what is noted
	struct noted *noted;
	uint32_t noted_count, noted_room;
	bool is_overrun; // too many to note
	struct watched_table table;
	struct watched_list waiting; // for the window to end
	int64_t window_ns;           // unix; 0: nothing waits
	struct deployment_commands *commands;
};

static bool note_deployment(struct deployment_watch *x, const struct uuid *id, bool is_allocation)
{
	pthread_mutex_lock(&x->mutex);
	if (x->noted_count == NOTED_MAX) {
		x->is_overrun = true;
	} else {
		if (x->noted_count == x->noted_room) {
			x->noted_room = x->noted_room ? 2 * x->noted_room : 256;
			x->noted = memory_resize(x->noted, x->noted_room * sizeof *x->noted);
		}
		x->noted[x->noted_count++] = (struct noted){*id, is_allocation};
	}
	pthread_mutex_unlock(&x->mutex);
	return true;
}

static bool is_judged(const struct allocation *a)
{
	const struct alloc_deployment_status *health = a ? allocation_health(a) : NULL;
	return health && health->healthy.set;
}

// Versions share the details that did not change. A verdict is noted at an index.
static bool matters(const struct allocation *before, const struct allocation *after)
{
	if (!is_judged(before) && !is_judged(after))
		return false;
	return !before || after->record.deleted || before->details != after->details ||
	       before->health.modify_index != after->health.modify_index ||
	       allocation_is_terminal(before) != allocation_is_terminal(after);
}

static bool deployments_changed(void *context, const struct state_change *c)
{
	if (c->table == STATE_DEPLOYMENTS)
		return note_deployment(context, &((const struct deployment *)c->after)->id, false);
	if (c->table != STATE_ALLOCATIONS)
		return false;
	const struct allocation *after = (const struct allocation *)c->after;
	return matters((const struct allocation *)c->before, after) &&
	       note_deployment(context, &after->id, true);
}

// Under read lock. NULL: the deployment has ended.
static struct watched *watch_deployment(struct deployment_watch *x, const struct uuid *id)
{
	struct watched *w = watched_find(&x->table, id);
	const struct deployment *d = w ? NULL : state_deployment(x->tools->state, id);

	return d && deployment_is_active(d) ? watched_add(&x->table, id) : w;
}

static void note_allocation(
	struct deployment_watch *x, const struct uuid *id, const struct allocation *a)
{
	bool belongs = a && a->details && !uuid_is_zero(&a->details->deployment_id);

	watched_note(
		&x->table, id, a, belongs ? watch_deployment(x, &a->details->deployment_id) : NULL);
}

static void read_noted(struct deployment_watch *x, const struct noted *n)
{
	if (n->is_allocation) {
		note_allocation(x, &n->id, state_allocation(x->tools->state, &n->id));
		return;
	}
	struct watched *w = watch_deployment(x, &n->id);
	if (w)
		watched_touch(&x->table, w);
}

static void read_deployments(struct deployment_watch *x)
{
	uint64_t cursor = 0;

	for (bool more = true; more;) {
		state_read_begin();
		for (uint32_t i = 0; i < READ_AT_ONCE && more; i++) {
			const struct deployment *d =
				state_next(x->tools->state, STATE_DEPLOYMENTS, &cursor);
			more = d != NULL;
			if (d && watch_deployment(x, &d->id))
				watched_touch(&x->table, watched_find(&x->table, &d->id));
		}
		state_read_end();
	}
}

static void read_allocations(struct deployment_watch *x)
{
	uint64_t cursor = 0;

	for (bool more = true; more;) {
		state_read_begin();
		for (uint32_t i = 0; i < READ_AT_ONCE && more; i++) {
			const struct allocation *a =
				state_next(x->tools->state, STATE_ALLOCATIONS, &cursor);
			more = a != NULL;
			if (is_judged(a))
				note_allocation(x, &a->id, a);
		}
		state_read_end();
	}
}

// Also after more changes than could be noted: then nothing remembered is used.
static void deployments_take_over(void *context)
{
	struct deployment_watch *x = context;

	watched_table_free(&x->table);
	watched_table_init(&x->table);
	LIST_INIT(&x->waiting);
	x->window_ns = 0;
	read_deployments(x);
	if (x->table.deployments.count > 0)
		read_allocations(x);
}

static void read_changes(struct deployment_watch *x)
{
	pthread_mutex_lock(&x->mutex);
	struct noted *noted = x->noted;
	uint32_t count = x->noted_count;
	bool is_overrun = x->is_overrun;
	x->noted = NULL;
	x->noted_count = x->noted_room = 0;
	x->is_overrun = false;
	pthread_mutex_unlock(&x->mutex);
	for (uint32_t i = 0; i < count && !is_overrun;) {
		state_read_begin();
		for (uint32_t n = 0; n < READ_AT_ONCE && i < count; n++)
			read_noted(x, &noted[i++]);
		state_read_end();
	}
	free(noted);
	if (is_overrun)
		deployments_take_over(x);
}

// What the unhealthy allocations without a decision call for.
struct unhealthy {
	bool fails, reverts;
	uint32_t replaceable;
	struct uuid *ids; // ids of those, at most DEPLOYMENT_COMMAND_IDS_MAX; NULL: not wanted
};

// The allocation's policy leaves it another try, or has already scheduled one.
static bool has_tries_left(const struct allocation *a, int64_t now_ns)
{
	return !uuid_is_zero(&a->details->followup_eval) ||
	       allocation_may_be_rescheduled(a, a->job, now_ns);
}

static void judge_unhealthy(
	const struct allocation *a, const struct deployment *d, int64_t now_ns, struct unhealthy *u)
{
	const struct task_group *group = allocation_group(a);
	const struct deployment_group *g = deployment_group_of(d, text_of(group->name));

	if (!g)
		return;
	if (g->progress_deadline_ns != 0 && a->desired != ALLOC_RUN)
		return; // it was replaced or stopped for another reason
	if (g->progress_deadline_ns == 0 || !has_tries_left(a, now_ns)) {
		u->fails = true;
		u->reverts |= g->auto_revert;
	} else if (!u->ids) {
		u->replaceable++;
	} else if (u->replaceable < DEPLOYMENT_COMMAND_IDS_MAX) {
		u->ids[u->replaceable++] = a->id;
	}
}

static void judge_open(const struct deployment_watch *x, const struct watched *w,
	const struct deployment *d, int64_t now_ns, struct unhealthy *u)
{
	const struct judged *j;

	LIST_FOREACH(j, &w->open, of_deployment)
	{
		const struct allocation *a = state_allocation(x->tools->state, &j->id);
		// A later change is noted again, so this one may be skipped.
		if (is_judged(a) && !allocation_health(a)->healthy.value &&
			!(a->details->transition.reschedule.set &&
				a->details->transition.reschedule.value))
			judge_unhealthy(a, d, now_ns, u);
	}
}

static bool see_snapshot(const struct evaluation *e, void *context)
{
	uint64_t *newest = context;
	uint64_t seen = e->snapshot_index ? e->snapshot_index : e->record.create_index;

	if (e->status != EVAL_CANCELED && seen > *newest)
		*newest = seen;
	return true;
}

// Whether some allocation became healthy after the snapshot of the job's newest evaluation.
static bool has_news(
	const struct deployment_watch *x, struct watched *w, const struct deployment *d)
{
	if (w->healthy_index <= w->evaluated_index)
		return false;
	w->evaluated_index = 0;
	state_job_evaluations(x->tools->state, text_of(d->namespace_name), text_of(d->job_id),
		see_snapshot, &w->evaluated_index);
	return w->healthy_index > w->evaluated_index;
}

static void begin_window(struct deployment_watch *x, struct watched *w, int64_t now_ns)
{
	w->batch_ns = 0;
	w->is_waiting = true;
	LIST_INSERT_HEAD(&x->waiting, w, waiting);
	if (x->window_ns == 0)
		x->window_ns = now_ns + WINDOW_NS;
}

static void push_along(struct deployment_watch *x, struct watched *w, const struct deployment *d,
	uint32_t replaceable, int64_t now_ns)
{
	if (w->batch_ns != 0 && now_ns >= w->batch_ns)
		begin_window(x, w, now_ns);
	else if (w->batch_ns == 0 && !w->is_waiting && (replaceable > 0 || has_news(x, w, d)))
		w->batch_ns = now_ns + BATCH_NS;
}

static void judge_deployment(
	struct deployment_watch *x, struct watched *w, const struct deployment *d, int64_t now_ns)
{
	struct group_health health[JOB_GROUPS_MAX];
	struct unhealthy u = {.fails = false};
	bool reverts;

	watched_health(w, d, health);
	judge_open(x, w, d, now_ns, &u);
	int64_t deadline_ns = deployment_deadline(d, health, w->judged_ns);
	bool is_late = deadline_ns != 0 && now_ns >= deadline_ns;
	watched_due_at(&x->table, w, WATCH_NEVER);
	if (u.fails) {
		deployment_commands_fail(x->commands, d, DEPLOYMENT_TEXT_UNHEALTHY, u.reverts);
		return;
	}
	if (is_late && deployment_lags(d, &reverts)) {
		deployment_commands_fail(x->commands, d, DEPLOYMENT_TEXT_DEADLINE, reverts);
		return;
	}
	if (is_late) { // it waits for its promotion
		w->judged_ns = now_ns;
		deadline_ns = deployment_deadline(d, health, now_ns);
	}
	if (deployment_is_ripe(d, health))
		deployment_commands_promote(x->commands, d);
	push_along(x, w, d, u.replaceable, now_ns);
	int64_t due_ns = deadline_ns ? deadline_ns : WATCH_NEVER;
	watched_due_at(&x->table, w, w->batch_ns && w->batch_ns < due_ns ? w->batch_ns : due_ns);
}

static void look_at(struct deployment_watch *x, struct watched *w, int64_t now_ns)
{
	watched_untouch(w);
	if (now_ns < w->rest_ns) {
		watched_due_at(&x->table, w, w->rest_ns);
		return;
	}
	state_read_begin();
	const struct deployment *d = state_deployment(x->tools->state, &w->id);
	bool is_active = d && deployment_is_active(d);
	if (is_active)
		judge_deployment(x, w, d, now_ns);
	state_read_end();
	if (!is_active)
		watched_drop(&x->table, w);
}

static void settle_act(void *context, const struct uuid *deployment, bool was_done, int64_t now_ns)
{
	struct deployment_watch *x = context;
	struct watched *w = watched_find(&x->table, deployment);

	if (!w || was_done)
		return;
	w->rest_ns = now_ns + RETRY_NS;
	watched_touch(&x->table, w);
}

static void act_on_verdict(struct deployment_watch *x, int64_t now_ns, bool *done)
{
	*done |= deployment_commands_run(x->commands, settle_act, x, now_ns);
}

// Asks for what the deployment waited for, unless it came otherwise.
static void ask_evaluations(struct deployment_watch *x, struct watched *w, int64_t now_ns)
{
	struct unhealthy u = {.ids = deployment_commands_ids(x->commands)};

	state_read_begin();
	const struct deployment *d = state_deployment(x->tools->state, &w->id);
	if (d && deployment_is_active(d)) {
		judge_open(x, w, d, now_ns, &u);
		if (!u.fails && u.replaceable > 0)
			deployment_commands_replace(x->commands, d, u.ids, u.replaceable);
		else if (!u.fails && has_news(x, w, d))
			deployment_commands_evaluate(x->commands, d);
	}
	state_read_end();
}

static void end_window(struct deployment_watch *x, int64_t now_ns, bool *done)
{
	struct watched *w;

	while ((w = LIST_FIRST(&x->waiting))) {
		LIST_REMOVE(w, waiting);
		w->is_waiting = false;
		watched_touch(&x->table, w);
		ask_evaluations(x, w, now_ns);
		if (deployment_commands_are_full(x->commands))
			act_on_verdict(x, now_ns, done);
	}
	x->window_ns = 0;
	act_on_verdict(x, now_ns, done);
}

static struct watched *next_due(const struct deployment_watch *x, int64_t now_ns)
{
	struct heap_node *top = heap_top(&x->table.due);
	struct watched *w = top ? CONTAINER_OF(top, struct watched, order) : NULL;

	return w && w->due_ns <= now_ns ? w : NULL;
}

static void look_at_all(struct deployment_watch *x, int64_t now_ns, bool *done)
{
	struct watched *w;

	do {
		while ((w = next_due(x, now_ns)) || (w = LIST_FIRST(&x->table.touched))) {
			look_at(x, w, now_ns);
			if (deployment_commands_are_full(x->commands))
				act_on_verdict(x, now_ns, done);
		}
		act_on_verdict(x, now_ns, done);
	} while (!LIST_EMPTY(&x->table.touched)); // refused commands touch theirs again
}

static int64_t deployments_turn(void *context, int64_t now_ns, bool *done)
{
	struct deployment_watch *x = context;

	read_changes(x);
	if (x->window_ns != 0 && now_ns >= x->window_ns)
		end_window(x, now_ns, done);
	look_at_all(x, now_ns, done);
	watch_gauge(x->tools, &x->tools->stats->deployments_watched, x->table.deployments.count);
	struct heap_node *top = heap_top(&x->table.due);
	int64_t due_ns = top ? CONTAINER_OF(top, struct watched, order)->due_ns : WATCH_NEVER;
	return x->window_ns != 0 && x->window_ns < due_ns ? x->window_ns : due_ns;
}

static void *deployments_create(const struct watch_tools *tools)
{
	struct deployment_watch *x = memory_take(sizeof *x);

	x->tools = tools;
	pthread_mutex_init(&x->mutex, NULL);
	watched_table_init(&x->table);
	LIST_INIT(&x->waiting);
	x->commands = deployment_commands_create(tools);
	return x;
}

static void deployments_destroy(void *context)
{
	struct deployment_watch *x = context;

	watched_table_free(&x->table);
	deployment_commands_destroy(x->commands);
	pthread_mutex_destroy(&x->mutex);
	free(x->noted);
	free(x);
}

const struct watcher deployment_watcher = {
	.name = "deployments",
	.create = deployments_create,
	.destroy = deployments_destroy,
	.take_over = deployments_take_over,
	.changed = deployments_changed,
	.turn = deployments_turn,
};
