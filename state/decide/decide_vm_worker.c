// Workers of virtual machines: nodes and workers kept by hand; and what operators set for workers and for placement.
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/node_worker.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/vms/vm_table.h"

static void describe(struct decider *d, struct vm_worker *worker)
{
	CHECK(decider_put(d, STATE_VM_WORKERS, worker) == 0);
}

// The worker was last seen at this time, or beats since then.
static void note_seen(
	struct decider *d, const struct vm_worker_cell *cell, int64_t seen_ns, bool beats)
{
	struct vm_worker *worker = vm_worker_copy(cell->working);

	worker->last_seen_ns = seen_ns;
	worker->beats = beats;
	describe(d, worker);
}

static bool is_same_machine(const struct vm_worker *a, const struct vm_worker *b)
{
	return text_equal(text_of(a->machine_id), text_of(b->machine_id));
}

// Whatever a node says of its hardware, its key speaks for its UUID alone.
static enum command_outcome worker_claim_refuse(
	const struct decider *d, const struct vm_worker *worker, const struct uuid *by)
{
	bool is_of_it = vm_worker_is_of(worker, by);
	const struct uuid *of = uuid_is_zero(&worker->owner) ? &worker->node : &worker->owner;
	char by_text[UUID_TEXT_BYTES], of_text[UUID_TEXT_BYTES], name[240];

	atomic_fetch_add(&d->counters->worker_claims, 1);
	log_warn("worker-claimed",
		"worker=%s node=%s owner=%s reason=%s action=\"refused; if the machine was set up "
		"anew: berth "
		"node purge OWNER, or berth worker delete NAME\"",
		log_quote(worker->name, name, sizeof name), uuid_format(by, by_text),
		uuid_is_zero(of) ? "by-hand" : uuid_format(of, of_text),
		is_of_it ? "another-machine" : "another-node");
	return OUTCOME_CONFLICT;
}

enum command_outcome decider_check_worker(
	const struct decider *d, const struct node_registration *described)
{
	struct vm_worker *worker = node_worker(described);
	enum command_outcome outcome = OUTCOME_DONE;

	if (!worker)
		return outcome;
	struct text name = text_of(worker->name);
	const struct vm_worker_cell *known = vm_worker_cell_find(d->state, name);
	if (known && !(is_same_machine(known->working, worker) &&
			     vm_worker_is_of(known->working, &described->node)))
		outcome = worker_claim_refuse(d, known->working, &described->node);
	else if (!table_has_room_for(d->state, STATE_VM_WORKERS, &name))
		outcome = OUTCOME_TABLE_FULL;
	vm_worker_free(worker);
	return outcome;
}

// The node has another name now or is no worker any more: nothing here reports this worker's machines. Unless a node
// comes back for it, it is lost in its time.
static void leave_node(struct decider *d, const struct vm_worker_cell *cell)
{
	struct vm_worker *worker = vm_worker_copy(cell->working);

	worker->owner = worker->node;
	worker->node = (struct uuid){0};
	worker->beats = false;
	worker->last_seen_ns = d->now_ns;
	describe(d, worker);
}

// The worker beats when its node does, and a registration is no heartbeat.
static void keep_what_is_known(struct vm_worker *worker, const struct vm_worker *known)
{
	worker->scheduling_paused = known->scheduling_paused;
	worker->last_seen_ns = known->last_seen_ns;
	worker->beats = known->beats;
	worker->created_at_ns = known->created_at_ns;
}

void decider_register_worker(struct decider *d, const struct node_registration *described)
{
	struct vm_worker *worker = node_worker(described);
	const struct vm_worker_cell *known =
		worker ? vm_worker_cell_find(d->state, text_of(worker->name)) : NULL;
	const struct vm_worker_cell *former = vm_worker_cell_of_node(d->state, &described->node);

	if (former && former != known)
		leave_node(d, former);
	if (worker)
		worker->created_at_ns = d->now_ns;
	if (known)
		keep_what_is_known(worker, known->working);
	if (worker && !(known && record_equal(&vm_worker_description, known->working, worker)))
		describe(d, worker);
	else
		vm_worker_free(worker);
}

void decider_follow_node(struct decider *d, const struct node_cell *node, int64_t heard_ns)
{
	const struct vm_worker_cell *cell = vm_worker_cell_of_node(d->state, &node->working->id);
	uint8_t status = node->working->status;
	bool beats = status == NODE_READY || status == NODE_INITIALIZING;

	if (cell && cell->working->beats != beats)
		note_seen(d, cell, heard_ns, beats);
}

// A worker that is a node is seen when its node is.
static enum command_outcome see(struct decider *d, const struct vm_worker_cell *cell)
{
	if (!cell)
		return OUTCOME_UNKNOWN_WORKER;
	if (uuid_is_zero(&cell->working->node))
		note_seen(d, cell, d->now_ns, false);
	return OUTCOME_DONE;
}

// An operator's pause outlives a registration; so does the link to the worker's node.
static void complete(struct vm_worker *worker, const struct vm_worker_cell *known, int64_t now_ns)
{
	worker->last_seen_ns = now_ns;
	worker->created_at_ns = known ? known->working->created_at_ns : now_ns;
	worker->scheduling_paused = known && known->working->scheduling_paused;
	worker->beats = known && known->working->beats;
	worker->node = known ? known->working->node : (struct uuid){0};
	worker->owner = known ? known->working->owner : (struct uuid){0};
	if (worker->beats)
		worker->last_seen_ns = known->working->last_seen_ns;
}

enum command_outcome decide_vm_worker(struct decider *d, struct command *command)
{
	struct command_vm_worker *c = &command->vm_worker;
	const struct vm_worker_cell *known =
		vm_worker_cell_find(d->state, text_of(c->worker->name));

	if (c->only_seen)
		return see(d, known);
	if (known && !is_same_machine(known->working, c->worker))
		return OUTCOME_CONFLICT;
	complete(c->worker, known, d->now_ns);
	enum command_outcome outcome = decider_store(d, STATE_VM_WORKERS, c->worker);
	if (outcome == OUTCOME_DONE)
		c->worker = NULL;
	return outcome;
}

enum command_outcome decide_vm_worker_pause(struct decider *d, struct command *command)
{
	const struct command_vm_named *c = &command->vm_named;
	const struct vm_worker_cell *cell = vm_worker_cell_find(d->state, c->name);

	if (!cell)
		return OUTCOME_UNKNOWN_WORKER;
	if (cell->working->scheduling_paused == c->paused)
		return OUTCOME_DONE;
	struct vm_worker *worker = vm_worker_copy(cell->working);
	worker->scheduling_paused = c->paused;
	describe(d, worker);
	return OUTCOME_DONE;
}

enum command_outcome decide_vm_worker_delete(struct decider *d, struct command *command)
{
	const struct command_vm_named *c = &command->vm_named;

	if (!vm_worker_cell_find(d->state, c->name))
		return OUTCOME_UNKNOWN_WORKER;
	decider_delete(d, STATE_VM_WORKERS, c->name);
	return OUTCOME_DONE;
}

enum command_outcome decide_cluster_settings(struct decider *d, struct command *command)
{
	struct command_cluster_settings *c = &command->cluster_settings;
	enum command_outcome outcome = decider_store(d, STATE_CLUSTER_SETTINGS, c->settings);

	if (outcome == OUTCOME_DONE)
		c->settings = NULL;
	return outcome;
}
