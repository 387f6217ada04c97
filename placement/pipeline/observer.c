#include "placement/pipeline/observer.h"
#include "state/base/memory.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/namespaces/quota.h"
#include "state/records/nodes/vm.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void offer_evaluation(struct pipeline *p, const struct evaluation *e)
{
	if (e->status == EVAL_PENDING)
		broker_enqueue(p->broker, e, 0);
	else if (e->status == EVAL_BLOCKED)
		blocked_add(p->blocked, e, 0);
}

// Offers only evaluations that become pending or blocked: one at a scheduler also changes, and must not be tracked
// twice.
static void evaluation_changed(
	struct pipeline *p, const struct evaluation *before, const struct evaluation *after)
{
	bool was_live = before && !evaluation_is_terminal(before);

	if (!after->record.deleted && !evaluation_is_terminal(after)) {
		if (!before || before->status != after->status)
			offer_evaluation(p, after);
		return;
	}
	if (!was_live)
		return;
	broker_forget(p->broker, &after->id);
	blocked_forget(p->blocked, &after->id);
	// B47: everything was placed, so nothing of the job waits for room.
	if (after->status == EVAL_COMPLETE && after->failed_groups.count == 0)
		blocked_untrack(p->blocked, after->namespace_name, after->job_id);
}

// Classes and nodes that got room in one publication.
struct room {
	struct pipeline *pipeline;
	uint64_t index;
	uint64_t classes[64]; // hashes
	uint32_t class_count;
	struct uuid nodes[256];
	uint32_t node_count;
};

static void flush_nodes(struct room *r)
{
	if (r->node_count > 0)
		blocked_unblock_nodes(r->pipeline->blocked, r->nodes, r->node_count, r->index);
	r->node_count = 0;
}

static void flush_classes(struct room *r)
{
	char name[32];

	for (uint32_t i = 0; i < r->class_count; i++) {
		snprintf(name, sizeof name, "v1:%" PRIu64, r->classes[i]);
		blocked_unblock_class(r->pipeline->blocked, name, r->index);
	}
	r->class_count = 0;
}

static void add_class(struct room *r, uint64_t hash)
{
	for (uint32_t i = r->class_count; i > 0; i--)
		if (r->classes[i - 1] == hash)
			return;
	if (r->class_count == sizeof r->classes / sizeof r->classes[0])
		flush_classes(r);
	r->classes[r->class_count++] = hash;
}

static void add_node(struct room *r, const struct node *node)
{
	if (r->node_count == sizeof r->nodes / sizeof r->nodes[0])
		flush_nodes(r);
	r->nodes[r->node_count++] = node->id;
	add_class(r, node->node_class->hash);
}

// B50: a node that became usable, or is described anew while usable.
static void node_changed(struct room *r, const struct node *before, const struct node *after)
{
	if (after->record.deleted || !node_is_usable(after))
		return;
	if (!before || !node_is_usable(before) || before->described_index != after->described_index)
		add_node(r, after);
}

// Room comes back when an allocation has ended on its node, not when it is to stop (row A47).
static void allocation_changed(
	struct room *r, const struct allocation *before, const struct allocation *after)
{
	if (!before || !allocation_holds_room(before) || allocation_holds_room(after) ||
		after->node_slot == NODE_SLOT_NONE)
		return;
	const struct node *node = state_node_at(r->pipeline->settings.state, after->node_slot);
	if (node && node_is_usable(node) && uuid_equal(&node->id, &after->node_id))
		add_node(r, node);
}

// B45: a quota gets room when an allocation of one of its namespaces lives no more, when it is described anew, and for
// a namespace that changes quotas.
static void quota_of_allocation(
	const struct room *r, const struct allocation *before, const struct allocation *after)
{
	if (!before || allocation_is_terminal(before) || !allocation_is_terminal(after))
		return;
	const char *quota = state_quota_lacks(
		r->pipeline->settings.state, text_of(after->job->namespace_name), NULL, NULL);
	if (quota)
		blocked_unblock_quota(r->pipeline->blocked, quota, r->index);
}

static void namespace_changed(const struct room *r, const struct job_namespace *before)
{
	if (before && text_of(before->quota).size)
		blocked_unblock_quota(r->pipeline->blocked, before->quota, r->index);
}

// Room also comes back when a virtual machine no longer holds anything of its worker's node.
static void machine_changed(struct room *r, const struct vm *before, const struct vm *after)
{
	bool goes_on =
		!after->record.deleted && before && after->holds_index == before->holds_index;

	if (!before || before->holds_index == 0 || goes_on)
		return;
	const struct node *node = state_node_at(r->pipeline->settings.state, before->holds_slot);
	if (node && node_is_usable(node))
		add_node(r, node);
}

void observe_changes(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct room room = {.pipeline = context, .index = index};

	// Room first: an evaluation that the same publication blocks has not seen it, and an older evaluation that it
	// wakes must not count as rival of a new one.
	for (uint32_t i = 0; i < count; i++) {
		const struct state_change *c = &changes[i];
		if (c->table == STATE_NODES)
			node_changed(&room, (const struct node *)c->before,
				(const struct node *)c->after);
		else if (c->table == STATE_ALLOCATIONS) {
			allocation_changed(&room, (const struct allocation *)c->before,
				(const struct allocation *)c->after);
			quota_of_allocation(&room, (const struct allocation *)c->before,
				(const struct allocation *)c->after);
		} else if (c->table == STATE_QUOTAS)
			blocked_unblock_quota(room.pipeline->blocked,
				((const struct quota *)c->after)->name, index);
		else if (c->table == STATE_NAMESPACES)
			namespace_changed(&room, (const struct job_namespace *)c->before);
		else if (c->table == STATE_VMS)
			machine_changed(
				&room, (const struct vm *)c->before, (const struct vm *)c->after);
	}
	flush_nodes(&room);
	flush_classes(&room);
	for (uint32_t i = 0; i < count; i++)
		if (changes[i].table == STATE_EVALUATIONS)
			evaluation_changed(context, (const struct evaluation *)changes[i].before,
				(const struct evaluation *)changes[i].after);
}

// The state is as before, so that only an older view than the newest can have missed it; whoever looked at the newest
// asks for what was given back meanwhile (delivery.c). An evaluation that waits for a node is made anew each time, so
// it may as well be taken for older.
void observe_dropped(struct pipeline *p, uint32_t slot)
{
	uint64_t index = state_index(p->settings.state);
	const struct node *node = state_node_at(p->settings.state, slot);
	char name[32];

	if (!node || !node_is_usable(node))
		return;
	snprintf(name, sizeof name, "v1:%" PRIu64, node->node_class->hash);
	blocked_unblock_nodes(p->blocked, &node->id, 1, index + 1);
	blocked_unblock_class(p->blocked, name, index);
}

#define WALKED_AT_ONCE 1024u // records per read section

static bool has_blocked(struct pipeline *p)
{
	const struct evaluation *e;
	uint64_t cursor = 0;

	state_read_begin();
	while ((e = state_next(p->settings.state, STATE_EVALUATIONS, &cursor)))
		if (e->status == EVAL_BLOCKED)
			break;
	state_read_end();
	return e != NULL;
}

static void had_room(struct room *r, const struct node *node, uint64_t index)
{
	if (!node || !node_is_usable(node))
		return;
	r->index = index;
	add_node(r, node);
	flush_nodes(r);
	flush_classes(r);
}

// The record of a machine that is gone or starts over does not tell its former node.
static void recall_workers(struct room *r)
{
	struct state *state = r->pipeline->settings.state;
	const struct vm_worker *worker;
	uint64_t cursor = 0;
	bool more = true;

	while (more) {
		state_read_begin();
		for (uint32_t i = 0; i < WALKED_AT_ONCE && more; i++) {
			worker = state_next(state, STATE_VM_WORKERS, &cursor);
			more = worker != NULL;
			if (worker && !uuid_is_zero(&worker->node))
				had_room(r, state_node_by_id(state, &worker->node),
					state_index(state));
		}
		state_read_end();
	}
}

// Finds room that came while nobody watched, as far as records tell: nodes that changed, allocations that ended, and
// any node that runs virtual machines. Evaluations decided on before that run again.
static void recall_room(struct pipeline *p)
{
	struct state *state = p->settings.state;
	struct room room = {.pipeline = p};
	const struct allocation *a;
	uint64_t cursor = 0;
	bool more = true;

	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		state_read_begin();
		const struct node *node = state_node_at(state, slot);
		had_room(&room, node, node ? node->record.modify_index : 0);
		state_read_end();
	}
	while (more) {
		state_read_begin();
		for (uint32_t i = 0; i < WALKED_AT_ONCE && more; i++) {
			a = state_next(state, STATE_ALLOCATIONS, &cursor);
			more = a != NULL;
			if (a && allocation_has_ended(a) && a->node_slot != NODE_SLOT_NONE)
				had_room(&room, state_node_at(state, a->node_slot),
					a->record.modify_index);
		}
		state_read_end();
	}
	recall_workers(&room);
}

// What quotas got meanwhile is not known: evaluations that wait for one look again.
static void recall_quotas(struct pipeline *p)
{
	struct state *state = p->settings.state;
	const struct quota *quota;
	uint64_t cursor = 0;

	state_read_begin();
	while ((quota = state_next(state, STATE_QUOTAS, &cursor)))
		blocked_unblock_quota(p->blocked, quota->name, state_index(state));
	state_read_end();
}

void take_over_evaluations(struct pipeline *p)
{
	uint64_t cursor = 0;
	bool more = true;

	if (has_blocked(p)) {
		recall_room(p);
		recall_quotas(p);
	}
	while (more) {
		state_read_begin();
		for (uint32_t i = 0; i < WALKED_AT_ONCE && more; i++) {
			const struct evaluation *e =
				state_next(p->settings.state, STATE_EVALUATIONS, &cursor);
			more = e != NULL;
			if (e)
				offer_evaluation(p, e);
		}
		state_read_end();
	}
}
