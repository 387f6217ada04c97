// Virtual machines (rows D1 to D4, D17): woken by what changes and at the latest after vm_interval_ns, one thread looks
// at whether all are well, and then places those that wait. The decider judges everything again.
#include "placement/vms/pass.h"
#include "placement/watch/watcher.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/command.h"
#include <stdlib.h>
#include <string.h>

struct vm_watch {
	struct watch_tools tools;
};

static void *create(const struct watch_tools *tools)
{
	struct vm_watch *w = memory_take(sizeof *w);

	w->tools = *tools;
	return w;
}

static void destroy(void *context)
{
	free(context);
}

// The first turn looks at everything.
static void take_over(void *context)
{
}

// --- What wakes it, on the applier's thread ------------------------------------------------------

// What waits or failed, and what gave its place back; an assignment does not.
static bool vm_matters(const struct vm *before, const struct vm *after)
{
	return after->record.deleted || vm_wants_worker(after) || vm_is_failed(after) ||
	       (before && vm_is_scheduled(before) && !vm_is_scheduled(after));
}

// That it was merely seen again waits for the next turn.
static bool worker_matters(const struct vm_worker *before, const struct vm_worker *after)
{
	return !before || after->record.deleted || before->beats != after->beats ||
	       before->last_seen_ns == after->last_seen_ns;
}

static bool changed(void *context, const struct state_change *change)
{
	if (change->table == STATE_VMS)
		return vm_matters(
			(const struct vm *)change->before, (const struct vm *)change->after);
	return change->table == STATE_VM_WORKERS &&
	       worker_matters((const struct vm_worker *)change->before,
		       (const struct vm_worker *)change->after);
}

// --- What there is, in one read section ----------------------------------------------------------

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
		r.vm_count < vm_room && (record = state_next_vm(w->tools.state, &at));)
		vms[r.vm_count++] = record;
	for (uint64_t at = 0; r.worker_count < worker_room &&
			      (record = state_next_vm_worker(w->tools.state, &at));)
		r.workers[r.worker_count++] = record;
	vm_roster_order(&r);
	return r;
}

static void forget_list(struct vm_roster *r)
{
	free((void *)r->vms);
	free(r->workers);
}

// --- Health --------------------------------------------------------------------------------------

// Copies of the names of those that something is to be written of; caller frees each and the list.
static char **find_unwell(const struct vm_watch *w, int64_t now_ns, uint32_t *count)
{
	state_read_begin();
	struct vm_roster r = list_all(w, now_ns);
	struct vm_finding *findings = memory_take_array(r.vm_count + 1u, sizeof *findings);
	*count = vm_roster_health(&r, findings);
	char **names = memory_take_array(*count + 1u, sizeof *names);
	for (uint32_t i = 0; i < *count; i++)
		names[i] = text_copy(text_of(r.vms[findings[i].vm]->name));
	state_read_end();
	free(findings);
	forget_list(&r);
	return names;
}

static bool check_health(struct vm_watch *w, int64_t now_ns)
{
	struct text texts[VM_ASSIGN_MAX];
	uint32_t count, changes = 0;
	char **names = find_unwell(w, now_ns, &count);

	for (uint32_t from = 0; from < count; from += VM_ASSIGN_MAX) {
		struct command c = {.type = COMMAND_VM_HEALTH, .vm_health = {.names = texts}};
		for (uint32_t i = from; i < count && i - from < VM_ASSIGN_MAX; i++)
			texts[c.vm_health.count++] = text_of(names[i]);
		(void)watch_run(&w->tools, &c); // who is refused is looked at again
		changes += c.vm_health.changed;
	}
	for (uint32_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return changes > 0;
}

// --- Scheduling ----------------------------------------------------------------------------------

// A pass over copies of those that wait and of the workers, which outlive the read section.
struct vm_view {
	struct vm_pass *pass;
	struct vm **waiting;
	struct vm_worker **workers;
	uint32_t waiting_count, worker_count;
};

static struct vm_view look(const struct vm_watch *w, int64_t now_ns)
{
	state_read_begin();
	struct vm_roster r = list_all(w, now_ns);
	const struct vm **vms = (const struct vm **)r.vms;
	struct vm_view v = {.waiting = memory_take_array(r.vm_count + 1u, sizeof *v.waiting),
		.workers = memory_take_array(r.worker_count + 1u, sizeof *v.workers)};

	for (uint32_t i = 0; i < r.vm_count; i++)
		if (vm_wants_worker(vms[i]))
			vms[i] = v.waiting[v.waiting_count++] = vm_copy(vms[i]);
	for (uint32_t i = 0; i < r.worker_count; i++)
		r.workers[i] = v.workers[v.worker_count++] = vm_worker_copy(r.workers[i]);
	v.pass = vm_pass_begin(&r, state_cluster_settings(w->tools.state)->scheduler_profile);
	state_read_end();
	forget_list(&r);
	return v;
}

static void look_away(struct vm_view *v)
{
	vm_pass_end(v->pass);
	for (uint32_t i = 0; i < v->waiting_count; i++)
		vm_free(v->waiting[i]);
	for (uint32_t i = 0; i < v->worker_count; i++)
		vm_worker_free(v->workers[i]);
	free(v->waiting);
	free(v->workers);
}

// Those of a batch that were refused are given back. How many were assigned, or negative: the pass cannot go on.
static int assign(struct vm_watch *w, struct vm_pass *pass, const struct vm_proposal *proposals,
	struct vm_assign_item *items, uint32_t count)
{
	struct command c = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = items, .count = count}};

	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct vm_assign_item){.vm = text_of(proposals[i].vm->name),
			.uid = text_of(proposals[i].vm->uid),
			.worker = text_of(proposals[i].worker->name),
			.worker_modify_index = proposals[i].worker->record.modify_index};
	if (watch_run(&w->tools, &c) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (items[i].result != VM_ASSIGNED)
			vm_pass_withdraw(pass, &proposals[i], items[i].result == VM_WORKER_SKIPPED);
	return (int)c.vm_assign.assigned;
}

static bool schedule(struct vm_watch *w, int64_t now_ns)
{
	struct vm_view v = look(w, now_ns);
	struct vm_proposal *proposals = memory_take_array(VM_ASSIGN_MAX, sizeof *proposals);
	struct vm_assign_item *items = memory_take_array(VM_ASSIGN_MAX, sizeof *items);
	uint64_t total = 0;
	uint32_t count;
	int assigned = 0;

	while (assigned >= 0 && (count = vm_pass_propose(v.pass, proposals, VM_ASSIGN_MAX)) > 0) {
		assigned = assign(w, v.pass, proposals, items, count);
		total += assigned > 0 ? (uint64_t)assigned : 0;
	}
	watch_count(&w->tools, &w->tools.stats->vms_assigned, total);
	free(items);
	free(proposals);
	look_away(&v);
	return total > 0;
}

static int64_t turn(void *context, int64_t now_ns, bool *done)
{
	struct vm_watch *w = context;

	*done |= check_health(w, now_ns);
	*done |= schedule(w, now_ns);
	watch_count(&w->tools, &w->tools.stats->vm_turns, 1);
	return now_ns + w->tools.vm_interval_ns;
}

const struct watcher vm_watcher = {
	.name = "vms",
	.create = create,
	.destroy = destroy,
	.take_over = take_over,
	.changed = changed,
	.turn = turn,
};
