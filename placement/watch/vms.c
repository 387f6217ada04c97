// Virtual machines (rows D1 to D4, D17): changes wake it, at the latest after vm_interval_ns; one thread checks
// whether all machines are well, then places those that wait. The decider judges everything again.
#include "placement/watch/vms.h"
#include "placement/vms/pass.h"
#include "placement/watch/vm_log.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/log/command.h"
#include <stdlib.h>
#include <string.h>

// Commands sent before the first is waited for.
#define ROUND_COMMANDS 16u

struct vm_watch {
	struct watch_tools tools;
	bool is_requested; // since the newest turn began; for the log alone
};

static void *vms_create(const struct watch_tools *tools)
{
	struct vm_watch *w = memory_take(sizeof *w);

	w->tools = *tools;
	return w;
}

static void vms_destroy(void *context)
{
	free(context);
}

// The first turn looks at everything.
static void vms_take_over(void *context)
{
}

// Matters: machines that wait or failed, and machines that gave up their place; an assignment does not.
static bool vm_matters(const struct vm *before, const struct vm *after)
{
	return after->record.deleted || vm_wants_worker(after) || vm_is_failed(after) ||
	       (before && vm_is_scheduled(before) && !vm_is_scheduled(after));
}

// A worker that was only seen again waits for the next turn, unless it had been offline.
static bool worker_matters(
	const struct vm_watch *w, const struct vm_worker *before, const struct vm_worker *after)
{
	if (!before || after->record.deleted ||
		vm_worker_is_offline(before, after->last_seen_ns, w->tools.vm_offline_after_ns))
		return true;
	struct vm_worker seen = *before;
	seen.last_seen_ns = after->last_seen_ns;
	return !record_equal(&vm_worker_description, &seen, after);
}

// A worker's node that became usable.
static bool node_matters(
	const struct vm_watch *w, const struct node *before, const struct node *after)
{
	return !after->record.deleted && node_is_usable(after) &&
	       (!before || !node_is_usable(before)) &&
	       state_vm_worker_of_node(w->tools.state, &after->id);
}

// A request while another one waits adds nothing (row D2).
static bool request_turn(struct vm_watch *w, const char *by)
{
	if (__atomic_exchange_n(&w->is_requested, true, __ATOMIC_RELAXED))
		log_debug("vms-requested-already", "by=%s", by);
	else
		log_debug("vms-requested", "by=%s", by);
	return true;
}

static bool vms_changed(void *context, const struct state_change *change)
{
	struct vm_watch *w = context;

	if (change->table == STATE_VMS) {
		const struct vm *before = (const struct vm *)change->before,
				*after = (const struct vm *)change->after;
		vm_log_change(before, after, (int64_t)time_wall_ns(w->tools.time));
		return vm_matters(before, after) && request_turn(w, "machine");
	}
	if (change->table == STATE_NODES)
		return node_matters(w, (const struct node *)change->before,
			       (const struct node *)change->after) &&
		       request_turn(w, "node");
	return change->table == STATE_VM_WORKERS &&
	       worker_matters(w, (const struct vm_worker *)change->before,
		       (const struct vm_worker *)change->after) &&
	       request_turn(w, "worker");
}

static struct vm_roster list_all(const struct vm_watch *w, int64_t now_ns)
{
	struct state_counts counts;
	const struct vm **vms;
	struct vm_roster r = {.now_ns = now_ns, .offline_after_ns = w->tools.vm_offline_after_ns};
	const void *record;

	state_counts(w->tools.state, &counts);
	uint32_t vm_room = counts.vms[0] + counts.vms[1] + counts.vms[2] + VM_ASSIGN_MAX;
	uint32_t worker_room = counts.vm_workers + VM_ASSIGN_MAX;
	r.vms = vms = memory_take_array(vm_room, sizeof *vms);
	r.workers = memory_take_array(worker_room, sizeof *r.workers);
	for (uint64_t at = 0;
		r.vm_count < vm_room && (record = state_next(w->tools.state, STATE_VMS, &at));)
		vms[r.vm_count++] = record;
	for (uint64_t at = 0; r.worker_count < worker_room &&
			      (record = state_next(w->tools.state, STATE_VM_WORKERS, &at));)
		r.workers[r.worker_count++] = record;
	vm_roster_order(&r);
	return r;
}

static void forget_list(struct vm_roster *r)
{
	vm_roster_free(r);
	free((void *)r->vms);
	free(r->workers);
}

// The results of one look; they outlive the read section.
struct vm_view {
	char **unwell; // names of machines to write something of
	uint32_t unwell_count;
	// When none is unwell: a pass over copies of the waiting machines and of the workers.
	struct vm_pass *pass;
	struct vm **waiting;
	struct vm_worker **workers;
	uint32_t waiting_count, worker_count;
	uint32_t seen_vms, seen_workers; // of all
};

static void note_unwell(struct vm_view *v, const struct vm_roster *r)
{
	struct vm_finding *findings = memory_take_array(r->vm_count + 1u, sizeof *findings);

	v->unwell_count = vm_roster_health(r, findings);
	v->unwell = memory_take_array(v->unwell_count + 1u, sizeof *v->unwell);
	for (uint32_t i = 0; i < v->unwell_count; i++)
		v->unwell[i] = text_copy(text_of(r->vms[findings[i].vm]->name));
	free(findings);
}

static void note_waiting(struct vm_view *v, struct vm_roster *r)
{
	const struct vm **vms = (const struct vm **)r->vms;

	v->waiting = memory_take_array(r->vm_count + 1u, sizeof *v->waiting);
	for (uint32_t i = 0; i < r->vm_count; i++)
		if (vm_wants_worker(vms[i]))
			vms[i] = v->waiting[v->waiting_count++] = vm_copy(vms[i]);
}

// A node that takes no new work takes no machines either, as if its worker were paused.
static struct vm_worker *worker_to_ask(const struct vm_watch *w, const struct vm_worker *worker)
{
	struct vm_worker *copy = vm_worker_copy(worker);

	if (!uuid_is_zero(&worker->node)) {
		const struct node *node = state_node_by_id(w->tools.state, &worker->node);
		copy->scheduling_paused |= node && !node_is_usable(node);
	}
	return copy;
}

static void begin_pass(const struct vm_watch *w, struct vm_view *v, struct vm_roster *r,
	const struct cluster_settings *settings)
{
	note_waiting(v, r);
	if (v->waiting_count == 0)
		return;
	v->workers = memory_take_array(r->worker_count + 1u, sizeof *v->workers);
	for (uint32_t i = 0; i < r->worker_count; i++)
		r->workers[i] = v->workers[v->worker_count++] = worker_to_ask(w, r->workers[i]);
	v->pass = vm_pass_begin(r, settings);
}

static void count_workers(const struct vm_watch *w, const struct vm_roster *r)
{
	uint32_t offline = 0;

	for (uint32_t i = 0; i < r->worker_count; i++)
		offline += vm_worker_is_offline(r->workers[i], r->now_ns, r->offline_after_ns);
	watch_gauge(&w->tools, &w->tools.stats->vm_workers_online, r->worker_count - offline);
	watch_gauge(&w->tools, &w->tools.stats->vm_workers_offline, offline);
}

static struct vm_view look_at_vms(const struct vm_watch *w, int64_t now_ns, bool judges)
{
	struct vm_view v = {0};

	state_read_begin();
	struct vm_roster r = list_all(w, now_ns);
	if (judges)
		note_unwell(&v, &r);
	if (v.unwell_count == 0)
		begin_pass(w, &v, &r, state_cluster_settings(w->tools.state));
	count_workers(w, &r);
	v.seen_vms = r.vm_count;
	v.seen_workers = r.worker_count;
	state_read_end();
	forget_list(&r);
	return v;
}

static void look_away(struct vm_view *v)
{
	vm_pass_end(v->pass);
	for (uint32_t i = 0; i < v->unwell_count; i++)
		free(v->unwell[i]);
	for (uint32_t i = 0; i < v->waiting_count; i++)
		vm_free(v->waiting[i]);
	for (uint32_t i = 0; i < v->worker_count; i++)
		vm_worker_free(v->workers[i]);
	free(v->unwell);
	free(v->waiting);
	free(v->workers);
}

// The first command that is refused ends the pass (row D19).
static void note_health(struct vm_watch *w, const struct vm_view *v, struct vm_pass_log *pass)
{
	struct text texts[VM_ASSIGN_MAX];

	for (uint32_t from = 0; from < v->unwell_count && !pass->error; from += VM_ASSIGN_MAX) {
		struct command c = {.type = COMMAND_VM_HEALTH, .vm_health = {.names = texts}};
		for (uint32_t i = from; i < v->unwell_count && i - from < VM_ASSIGN_MAX; i++)
			texts[c.vm_health.count++] = text_of(v->unwell[i]);
		pass->error = watch_run(&w->tools, &c);
		pass->changed += pass->error ? 0 : c.vm_health.changed;
	}
}

// Proposals of one round, in commands that one log write can take together.
struct round {
	struct vm_proposal proposals[ROUND_COMMANDS * VM_ASSIGN_MAX];
	struct vm_assign_item items[ROUND_COMMANDS * VM_ASSIGN_MAX];
	struct command commands[ROUND_COMMANDS];
	uint32_t count, command_count;
};

static bool propose_round(struct round *r, struct vm_pass *pass)
{
	r->count = vm_pass_propose(pass, r->proposals, ROUND_COMMANDS * VM_ASSIGN_MAX);
	r->command_count = (r->count + VM_ASSIGN_MAX - 1) / VM_ASSIGN_MAX;
	for (uint32_t i = 0; i < r->count; i++)
		r->items[i] = (struct vm_assign_item){.vm = text_of(r->proposals[i].vm->name),
			.uid = text_of(r->proposals[i].vm->uid),
			.worker = text_of(r->proposals[i].worker->name),
			.worker_modify_index = r->proposals[i].worker->record.modify_index};
	for (uint32_t i = 0; i < r->command_count; i++) {
		uint32_t from = i * VM_ASSIGN_MAX, left = r->count - from;
		r->commands[i] = (struct command){.type = COMMAND_VM_ASSIGN,
			.vm_assign = {.items = &r->items[from],
				.count = left < VM_ASSIGN_MAX ? left : VM_ASSIGN_MAX}};
	}
	return r->count > 0;
}

// Withdraws refused proposals. False: the pass cannot go on (row D17).
static bool settle_round(struct round *r, struct vm_pass *pass, struct vm_pass_log *log)
{
	for (uint32_t i = 0; i < r->command_count; i++) {
		if (!log->error)
			log->error = outcome_error(r->commands[i].outcome);
		log->changed += r->commands[i].vm_assign.assigned;
	}
	for (uint32_t i = 0; !log->error && i < r->count; i++)
		if (r->items[i].result != VM_ASSIGNED)
			vm_pass_withdraw(
				pass, &r->proposals[i], r->items[i].result == VM_WORKER_SKIPPED);
	return !log->error;
}

// Counts how long the assigned machines had waited.
static void count_round(const struct vm_watch *w, const struct round *r)
{
	int64_t now_ns = (int64_t)time_wall_ns(w->tools.time);
	struct watchers_stats *s = w->tools.stats;

	pthread_mutex_lock(w->tools.stats_mutex);
	for (uint32_t i = 0; i < r->count; i++) {
		int64_t waited_ns = now_ns - r->proposals[i].vm->created_at_ns;
		uint64_t us = waited_ns > 0 ? (uint64_t)waited_ns / 1000 : 0;
		if (r->items[i].result != VM_ASSIGNED ||
			r->commands[i / VM_ASSIGN_MAX].outcome != OUTCOME_DONE)
			continue;
		s->vms_assigned++;
		s->vm_scheduling.us[timing_bucket(us)]++;
		s->vm_scheduling.us_sum += us;
	}
	pthread_mutex_unlock(w->tools.stats_mutex);
}

static void schedule_vms(struct vm_watch *w, struct vm_pass *pass, struct vm_pass_log *log)
{
	struct round *r = memory_take(sizeof *r);
	struct command *commands[ROUND_COMMANDS];

	for (uint32_t i = 0; i < ROUND_COMMANDS; i++)
		commands[i] = &r->commands[i];
	while (propose_round(r, pass)) {
		watch_run_all(&w->tools, commands, r->command_count);
		count_round(w, r);
		if (!settle_round(r, pass, log))
			break;
	}
	free(r);
}

static void end_pass(const struct vm_watch *w, const struct vm_view *v, uint64_t began_ns,
	struct vm_pass_log *log)
{
	log->took_ns = time_monotonic_ns(w->tools.time) - began_ns;
	if (log->error)
		return;
	log->workers = v->seen_workers;
	log->vms = v->seen_vms;
}

static int64_t vms_turn(void *context, int64_t now_ns, bool *done)
{
	struct vm_watch *w = context;
	struct vm_pass_log health = {0}, scheduling = {0};

	__atomic_store_n(&w->is_requested, false, __ATOMIC_RELAXED);
	uint64_t began_ns = time_monotonic_ns(w->tools.time);
	struct vm_view v = look_at_vms(w, now_ns, true);
	note_health(w, &v, &health);
	end_pass(w, &v, began_ns, &health);
	began_ns = time_monotonic_ns(w->tools.time);
	if (v.unwell_count > 0) {
		look_away(&v);
		v = look_at_vms(w, now_ns, false);
	}
	if (v.pass)
		schedule_vms(w, v.pass, &scheduling);
	end_pass(w, &v, began_ns, &scheduling);
	look_away(&v);
	*done |= health.changed + scheduling.changed > 0;
	vm_log_turn(&health, &scheduling);
	watch_count(&w->tools, &w->tools.stats->vm_turns, 1);
	return now_ns + w->tools.vm_interval_ns;
}

const struct watcher vm_watcher = {
	.name = "vms",
	.create = vms_create,
	.destroy = vms_destroy,
	.take_over = vms_take_over,
	.changed = vms_changed,
	.turn = vms_turn,
};
