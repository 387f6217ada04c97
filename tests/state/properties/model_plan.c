#include "tests/state/properties/model_plan.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct plan_model_alloc *plan_model_find(struct plan_model *m, const struct uuid *id)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (uuid_equal(&m->allocations[i].id, id) && !m->allocations[i].is_collected)
			return &m->allocations[i];
	return NULL;
}

const char *plan_model_address(int64_t port)
{
	return port % PLAN_ADDRESSES ? "10.0.0.2" : "10.0.0.1";
}

struct alloc_details *plan_model_details(int64_t port, int64_t core)
{
	if (port < 0 && core < 0)
		return NULL;
	struct alloc_details *d =
		port >= 0 ? port_details(plan_model_address(port), port) : alloc_details_create();
	if (core >= 0) {
		struct allocated_task *task = array_append(&d->tasks, sizeof *task);
		task->task = text_copy(TEXT("t"));
		*(int64_t *)array_append(&task->reserved_cores, sizeof core) = core;
	}
	return d;
}

static uint32_t node_of(const struct plan_model *m, const struct uuid *id, uint32_t slot)
{
	for (uint32_t i = 0; i < PLAN_NODES; i++) {
		struct uuid own = number_uuid(i);
		if (uuid_equal(&own, id))
			return m->nodes[i].exists && m->nodes[i].slot == slot ? i : PLAN_NODES;
	}
	return PLAN_NODES;
}

enum fate { STAYS, STOPS, EVICTED, UPDATED };

struct wish {
	const struct plan *plan;
	const int64_t *ports, *cores;
	uint8_t fates[PLAN_ALLOCATIONS];                 // enum fate
	const struct plan_stop *stops[PLAN_ALLOCATIONS]; // of those that end
	const struct plan_update *updates[PLAN_ALLOCATIONS];
};

// Each allocation once: first comes first.
static void want_ends(struct plan_model *m, struct wish *w, const struct array *stops, bool evict)
{
	for (uint32_t i = 0; i < stops->count; i++) {
		const struct plan_stop *s = ARRAY_AT(stops, struct plan_stop, i);
		struct plan_model_alloc *a = plan_model_find(m, &s->id);
		uint32_t at = a ? (uint32_t)(a - m->allocations) : 0;
		if (!a || w->fates[at] != STAYS ||
			(evict && !plan_model_lives(a) && !plan_model_holds(a)))
			continue;
		w->fates[at] = evict ? EVICTED : STOPS;
		w->stops[at] = s;
	}
}

static void want_updates(struct plan_model *m, struct wish *w)
{
	for (uint32_t i = 0; i < w->plan->updates.count; i++) {
		const struct plan_update *u = ARRAY_AT(&w->plan->updates, struct plan_update, i);
		struct plan_model_alloc *a = plan_model_find(m, &u->id);
		uint32_t at = a ? (uint32_t)(a - m->allocations) : 0;
		if (!a || w->fates[at] != STAYS || !plan_model_lives(a) || a->node == PLAN_NODES)
			continue;
		w->fates[at] = UPDATED;
		w->updates[at] = u;
	}
}

struct sums {
	uint64_t before[3], after[3], placed[3];
	uint64_t gpus;
	bool clash; // a device, port, core, name or id twice, or not the node's
	uint32_t places, updates, known_updates;
};

static void add(uint64_t *sum, struct resources r)
{
	sum[0] += r.cpu_mhz;
	sum[1] += r.memory_mb;
	sum[2] += r.disk_mb;
}

static void take_gpus(struct sums *s, uint64_t gpus, uint32_t count)
{
	s->clash |= (s->gpus & gpus) != 0 || (gpus & ~((1ull << count) - 1)) != 0;
	s->gpus |= gpus;
}

static bool stays(const struct plan_model *m, const struct wish *w, uint32_t i, uint32_t node)
{
	const struct plan_model_alloc *a = &m->allocations[i];
	return plan_model_holds(a) && a->node == node && w->fates[i] != STOPS &&
	       w->fates[i] != EVICTED;
}

static void count_held(
	const struct plan_model *m, const struct wish *w, uint32_t node, struct sums *s)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct plan_model_alloc *a = &m->allocations[i];
		if (plan_model_holds(a) && a->node == node)
			add(s->before, a->resources);
		if (!stays(m, w, i, node))
			continue;
		const struct plan_update *u = w->updates[i];
		add(s->after, u ? u->resources : a->resources);
		s->gpus |= a->gpus; // updates of this model keep devices
		if (!u)
			continue;
		s->updates++;
		s->known_updates += u->client_status != ALLOC_UNKNOWN;
	}
}

static bool meets_living(
	const struct plan_model *m, const struct wish *w, uint32_t node, uint32_t job, uint32_t at)
{
	const struct plan_placement *p = ARRAY_AT(&w->plan->placements, struct plan_placement, at);

	for (uint32_t i = 0; i < m->count; i++) {
		const struct plan_model_alloc *a = &m->allocations[i];
		if (uuid_equal(&a->id, &p->id) && !a->is_collected)
			return true;
		if (!stays(m, w, i, node))
			continue;
		if ((w->ports[at] >= 0 && a->port == w->ports[at]) ||
			(w->cores[at] >= 0 && a->core == w->cores[at]) ||
			(plan_model_lives(a) && a->job == job && a->name_index == p->name_index &&
				!(m->jobs[job].shares_names && a->version != p->job_version)))
			return true;
	}
	return false;
}

static bool meets_others(const struct wish *w, uint32_t at)
{
	const struct plan_placement *p = ARRAY_AT(&w->plan->placements, struct plan_placement, at);

	for (uint32_t i = 0; i < at; i++) {
		const struct plan_placement *q =
			ARRAY_AT(&w->plan->placements, struct plan_placement, i);
		if (q->slot != p->slot || !uuid_equal(&q->node_id, &p->node_id))
			continue;
		if ((w->ports[at] >= 0 && w->ports[i] == w->ports[at]) ||
			(w->cores[at] >= 0 && w->cores[i] == w->cores[at]) ||
			q->name_index == p->name_index)
			return true;
	}
	return false;
}

static void count_placements(const struct plan_model *m, const struct wish *w, uint32_t node,
	uint32_t job, struct sums *s)
{
	const struct plan_model_node *n = &m->nodes[node];

	for (uint32_t i = 0; i < w->plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&w->plan->placements, struct plan_placement, i);
		if (node_of(m, &p->node_id, p->slot) != node)
			continue;
		s->places++;
		add(s->after, p->resources);
		add(s->placed, p->resources);
		take_gpus(s, p->devices.groups[0], n->gpus);
		s->clash |= meets_living(m, w, node, job, i) || meets_others(w, i) ||
			    w->cores[i] >= (int64_t)n->cores || !m->jobs[job].exists;
	}
}

static bool fits(const struct plan_model_node *n, const struct sums *s)
{
	uint64_t capacity[3] = {n->total.cpu_mhz, n->total.memory_mb, n->total.disk_mb};

	for (int i = 0; i < 3; i++)
		if (s->after[i] > capacity[i] && (s->placed[i] > 0 || s->after[i] > s->before[i]))
			return false;
	return true;
}

static bool takes(const struct plan_model *m, const struct wish *w, uint32_t node, uint32_t job)
{
	const struct plan_model_node *n = &m->nodes[node];
	struct sums s = {0};

	count_held(m, w, node, &s);
	count_placements(m, w, node, job, &s);
	if (s.places == 0 && s.updates == 0)
		return true;
	if (n->status == NODE_DISCONNECTED)
		return s.places == 0 && s.known_updates == 0;
	if (n->status != NODE_READY || (s.places > 0 && !n->is_eligible))
		return false;
	return !s.clash && fits(n, &s);
}

static void end(
	struct plan_model *m, struct plan_model_alloc *a, const struct plan_stop *s, bool evict)
{
	a->desired = evict ? ALLOC_EVICT : ALLOC_STOP;
	if (s->lost && (a->client_status <= ALLOC_RUNNING || a->client_status == ALLOC_UNKNOWN))
		a->client_status = ALLOC_LOST;
	if (evict)
		a->preempted_by = s->preempted_by;
	m->preempted += evict;
}

static uint32_t apply_to_known(struct plan_model *m, const struct wish *w, const bool *takes_part)
{
	uint32_t changes = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		struct plan_model_alloc *a = &m->allocations[i];
		bool is_there = a->node == PLAN_NODES || takes_part[a->node];
		if (w->fates[i] == STAYS || !is_there)
			continue;
		changes++;
		if (w->fates[i] != UPDATED) {
			end(m, a, w->stops[i], w->fates[i] == EVICTED);
			continue;
		}
		a->resources = w->updates[i]->resources;
		a->version = w->updates[i]->job_version;
		if (w->updates[i]->client_status == ALLOC_UNKNOWN)
			a->client_status = ALLOC_UNKNOWN;
	}
	return changes;
}

static void link_previous(struct plan_model *m, const struct plan_placement *p)
{
	struct plan_model_alloc *a =
		p->details ? plan_model_find(m, &p->details->previous_allocation) : NULL;
	if (a)
		a->next = p->id;
}

static uint32_t apply_placements(
	struct plan_model *m, const struct wish *w, uint32_t job, const bool *takes_part)
{
	uint32_t placed = 0;

	for (uint32_t i = 0; i < w->plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&w->plan->placements, struct plan_placement, i);
		uint32_t node = node_of(m, &p->node_id, p->slot);
		if (node == PLAN_NODES || !takes_part[node])
			continue;
		assert_true(m->count < PLAN_ALLOCATIONS);
		m->allocations[m->count++] = (struct plan_model_alloc){.id = p->id,
			.node = node,
			.job = job,
			.name_index = p->name_index,
			.version = p->job_version,
			.resources = p->resources,
			.gpus = p->devices.groups[0],
			.port = w->ports[i],
			.core = w->cores[i]};
		link_previous(m, p);
		placed++;
	}
	return placed;
}

// As a node that is there: a placement may have named it with another's slot, besides.
static bool was_rejected(const struct plan_result *result, uint32_t node)
{
	struct uuid id = number_uuid(node);
	bool found = false;

	for (uint32_t i = 0; i < result->rejections.count; i++) {
		const struct plan_rejection *r =
			ARRAY_AT(&result->rejections, struct plan_rejection, i);
		found |= uuid_equal(&r->node_id, &id) &&
			 strcmp(r->reason, "node does not exist") != 0;
	}
	return found;
}

void plan_model_decide(struct plan_model *m, const struct plan *plan, uint32_t job,
	const int64_t *ports, const int64_t *cores, const struct plan_result *result)
{
	static struct wish wish; // large
	bool takes_part[PLAN_NODES], any_missing = false;
	uint32_t rejected = 0;

	memset(&wish, 0, sizeof wish);
	wish.plan = plan;
	wish.ports = ports;
	wish.cores = cores;
	want_ends(m, &wish, &plan->stops, false);
	want_ends(m, &wish, &plan->preemptions, true);
	want_updates(m, &wish);
	for (uint32_t i = 0; i < PLAN_NODES; i++) {
		takes_part[i] = !m->nodes[i].exists || takes(m, &wish, i, job);
		if (takes_part[i] == was_rejected(result, i))
			print_error("node %u: %s\n", i, rejection_of(result, i));
		assert_int_equal(!takes_part[i], was_rejected(result, i));
		rejected += !takes_part[i];
	}
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		any_missing |= node_of(m, &p->node_id, p->slot) == PLAN_NODES;
	}
	assert_int_equal(result->refresh_index > 0,
		result->rejections.count > 0 || result->updates_committed < plan->updates.count);
	if (plan->all_at_once && result->rejections.count > 0) {
		assert_int_equal(result->alloc_index, 0);
		assert_true(rejected > 0 || any_missing || plan->updates.count > 0);
		return;
	}
	uint32_t changes = apply_to_known(m, &wish, takes_part);
	assert_int_equal(changes, result->stops_committed + result->updates_committed);
	assert_int_equal(apply_placements(m, &wish, job, takes_part), result->placements_committed);
	m->rejected += rejected;
	m->committed += result->placements_committed;
}

static enum command_outcome report_outcome(
	const struct plan_model_node *n, const struct command_alloc_update *c)
{
	if (!n->exists)
		return OUTCOME_UNKNOWN_NODE;
	if (c->generation != n->generation)
		return OUTCOME_STALE_GENERATION;
	return n->status == NODE_DOWN || n->status == NODE_DISCONNECTED ? OUTCOME_NODE_NOT_ALLOWED
									: OUTCOME_DONE;
}

static void report_to_one(struct plan_model *m, struct plan_model_alloc *a, uint8_t status)
{
	bool matters = status >= ALLOC_COMPLETE || a->client_status == ALLOC_UNKNOWN;

	if (!m->jobs[a->job].exists && matters && a->desired == ALLOC_RUN)
		a->desired = ALLOC_STOP;
	if (a->client_status != ALLOC_COMPLETE && a->client_status != ALLOC_FAILED)
		a->client_status = status;
}

void plan_model_report(struct plan_model *m, uint32_t node, const struct command *command)
{
	const struct command_alloc_update *c = command->alloc_update;
	struct plan_model_node *n = &m->nodes[node];

	assert_int_equal(command->outcome, report_outcome(n, c));
	if (command->outcome != OUTCOME_DONE)
		return;
	for (uint32_t i = 0; i < c->count; i++) {
		struct plan_model_alloc *a = plan_model_find(m, &c->items[i].allocation);
		assert_int_equal(c->items[i].known, a && a->node == node);
		if (c->items[i].known && c->sequence > n->report_sequence)
			report_to_one(m, a, c->items[i].client_status);
	}
	if (c->sequence > n->report_sequence)
		n->report_sequence = c->sequence;
}

void plan_model_devices(struct plan_model *m, uint32_t node, uint32_t gpus)
{
	for (uint32_t i = 0; i < m->count; i++) {
		struct plan_model_alloc *a = &m->allocations[i];
		if (!plan_model_holds(a) || a->node != node || !(a->gpus & ~((1ull << gpus) - 1)))
			continue;
		if (!plan_model_lives(a)) {
			a->gpus = 0;
			continue;
		}
		a->desired = ALLOC_STOP;
		a->client_status = ALLOC_LOST;
	}
}

void plan_model_forget(struct plan_model *m, uint32_t node)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->allocations[i].node == node)
			m->allocations[i].node = PLAN_NODES;
}

static void compare_one(
	const struct plan_model *m, const struct plan_model_alloc *own, const struct allocation *a)
{
	assert_non_null(a);
	assert_int_equal(a->desired, own->desired);
	assert_int_equal(a->client_status, own->client_status);
	assert_int_equal(a->index, own->name_index);
	assert_int_equal(a->job->record.modify_index, own->version);
	assert_memory_equal(&a->resources, &own->resources, sizeof own->resources);
	assert_int_equal(
		a->node_slot, own->node == PLAN_NODES ? NODE_SLOT_NONE : m->nodes[own->node].slot);
	struct uuid none = {0};
	const struct uuid *by = a->details ? &a->details->preempted_by : &none;
	const struct uuid *next = a->details ? &a->details->next_allocation : &none;
	assert_true(uuid_equal(by, &own->preempted_by));
	assert_true(uuid_equal(next, &own->next));
	assert_int_equal(a->details && a->details->transition.migrate.set, own->migrate);
}

void plan_model_compare(const struct plan_model *m, const struct state *state)
{
	uint64_t cursor = 0;
	uint32_t there = 0, count = 0;

	state_read_begin();
	for (uint32_t i = 0; i < m->count; i++) {
		const struct plan_model_alloc *own = &m->allocations[i];
		if (own->is_collected)
			continue;
		compare_one(m, own, state_allocation(state, &own->id));
		there++;
	}
	while (state_next(state, STATE_ALLOCATIONS, &cursor))
		count++;
	state_read_end();
	assert_int_equal(count, there);
}
