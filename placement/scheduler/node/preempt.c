#include "placement/scheduler/node/preempt.h"
#include "placement/direct/victims/victim_score.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARALLEL_PENALTY 50.0

static bool is_own_job(const struct stack *s, const struct job *job)
{
	return strcmp(job->id, s->job->id) == 0 &&
	       strcmp(job->namespace_name, s->job->namespace_name) == 0;
}

static bool add_candidate(const struct proposed_allocation *a, void *context)
{
	struct stack *s = context;
	if (!a->existing || is_own_job(s, a->job))
		return true;
	GROW(s->candidates, s->candidate_count, s->candidate_room);
	s->candidates[s->candidate_count++] = (struct candidate){
		.allocation = a->existing,
		.details = a->details,
		.resources = a->resources,
		.priority = a->job->priority,
		.preemptible = s->job->priority - a->job->priority >= PRIORITY_DELTA,
	};
	return true;
}

static int candidates_by_id(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;
	return uuid_compare(&p->allocation->id, &q->allocation->id);
}

static void find_candidates(struct stack *s, uint32_t slot)
{
	if (s->candidates_known)
		return;
	s->candidates_known = true;
	s->candidate_count = 0;
	proposal_walk(&s->proposal, slot, add_candidate, s);
	if (s->candidate_count > 1)
		qsort(s->candidates, s->candidate_count, sizeof *s->candidates, candidates_by_id);
	CHECK(s->candidates_known && s->candidate_count <= s->candidate_room);
}

static void choose_victim(struct stack *s, struct candidate *c)
{
	CHECK(c->preemptible);
	if (c->chosen)
		return;
	c->chosen = true;
	GROW(s->victims, s->victim_count, s->victim_room);
	s->victims[s->victim_count++] = c->allocation;
}

// The candidates that may be chosen, the least important first, then by id. Returns an array of *count; the caller
// frees.
static struct candidate **preemptible(struct stack *s, uint32_t *count)
{
	CHECK(s->candidates_known);
	struct candidate **list = memory_take_array(s->candidate_count + 1, sizeof *list);
	*count = 0;
	for (uint32_t i = 0; i < s->candidate_count; i++) {
		struct candidate *c = &s->candidates[i];
		if (!c->preemptible || c->chosen)
			continue;
		uint32_t at = (*count)++;
		for (; at > 0 && list[at - 1]->priority > c->priority; at--)
			list[at] = list[at - 1];
		list[at] = c;
	}
	CHECK(*count <= s->candidate_count);
	return list;
}

enum { DIMENSIONS = 3 };
struct amounts {
	int64_t of[DIMENSIONS]; // memory, cpu, disk
};

static struct amounts amounts_of(const struct resources *r)
{
	return (struct amounts){{r->memory_mb, r->cpu_mhz, r->disk_mb}};
}

static void amounts_add(struct amounts *to, const struct amounts *by, int sign)
{
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		to->of[i] += sign * by->of[i];
}

static bool amounts_cover(const struct amounts *have, const struct amounts *ask)
{
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		if (have->of[i] < ask->of[i])
			return false;
	return true;
}

static double amounts_distance(const struct amounts *ask, const struct amounts *have)
{
	double sum = 0;
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		if (ask->of[i] > 0) {
			double d = ((double)ask->of[i] - (double)have->of[i]) / (double)ask->of[i];
			sum += d * d;
		}
	return sqrt(sum);
}

static int64_t parallel_of(const struct allocation *a)
{
	const struct migrate_strategy *migrate = allocation_group(a)->migrate;
	return migrate ? migrate->max_parallel : 0;
}

static double parallel_penalty(const struct stack *s, const struct allocation *a)
{
	int64_t parallel = parallel_of(a);
	int64_t already = victim_counts_of(&s->victim_counts, a);
	return parallel > 0 && already >= parallel
		       ? MAX_PARALLEL_PENALTY * (double)(already + 1 - parallel)
		       : 0;
}

// The candidates that are left, by priority. When one is taken, the last of its priority takes its place.
struct choice {
	struct stack *s;
	struct candidate **left;
	uint32_t left_count;
	struct candidate **taken;
	uint32_t taken_count;
	struct amounts available, ask, remaining;
	bool met;
};

// The end of the candidates of one priority.
static uint32_t priority_end(const struct choice *c, uint32_t from)
{
	uint32_t end = from;
	while (end < c->left_count && c->left[end]->priority == c->left[from]->priority)
		end++;
	return end;
}

static void take_nearest(struct choice *c, struct candidate **of, uint32_t *count)
{
	CHECK(*count > 0);
	double best = DBL_MAX;
	uint32_t nearest = 0;
	for (uint32_t i = 0; i < *count; i++) {
		struct amounts have = amounts_of(&of[i]->allocation->resources);
		double d = amounts_distance(&c->remaining, &have) +
			   parallel_penalty(c->s, of[i]->allocation);
		if (d < best) {
			best = d;
			nearest = i;
		}
	}
	struct amounts have = amounts_of(&of[nearest]->allocation->resources);
	c->taken[c->taken_count++] = of[nearest];
	of[nearest] = of[--*count];
	amounts_add(&c->available, &have, 1);
	amounts_add(&c->remaining, &have, -1);
	c->met = amounts_cover(&c->available, &c->ask);
	CHECK(c->taken_count <= c->left_count);
}

static void take_by_priority(struct choice *c)
{
	CHECK(!c->met && c->taken_count == 0);
	for (uint32_t from = 0; from < c->left_count && !c->met;) {
		uint32_t end = priority_end(c, from);
		for (uint32_t count = end - from; count > 0 && !c->met;)
			take_nearest(c, c->left + from, &count);
		from = end;
	}
	CHECK(c->met || c->taken_count == c->left_count);
}

// Sorts the farthest first; those of equal distance stay in the order in which they were taken.
static void sort_by_distance(struct choice *c)
{
	for (uint32_t i = 1; i < c->taken_count; i++) {
		struct candidate *moved = c->taken[i];
		struct amounts have = amounts_of(&moved->allocation->resources);
		double d = amounts_distance(&c->ask, &have);
		uint32_t at = i;
		for (; at > 0; at--) {
			struct amounts before =
				amounts_of(&c->taken[at - 1]->allocation->resources);
			if (amounts_distance(&c->ask, &before) >= d)
				break;
			c->taken[at] = c->taken[at - 1];
		}
		c->taken[at] = moved;
	}
}

// Chooses the taken candidates that are needed, and leaves out the others.
static void choose_enough(struct choice *c, struct amounts available)
{
	CHECK(c->met);
	sort_by_distance(c);
	for (uint32_t i = 0; i < c->taken_count; i++) {
		struct amounts have = amounts_of(&c->taken[i]->allocation->resources);
		choose_victim(c->s, c->taken[i]);
		amounts_add(&available, &have, 1);
		if (amounts_cover(&available, &c->ask))
			break;
	}
}

// What the other jobs and virtual machines leave. As in Nomad, allocations of the job itself do not count here,
// whether they are there or planned: the applier counts all of them, and so does the next attempt on a node where the
// applier refused such a plan.
static struct amounts left_by_others(const struct stack *s, const struct node *n)
{
	CHECK(s->candidates_known);
	struct resources capacity = node_capacity(n);
	struct node_use use = proposal_before(&s->proposal, n->slot);
	struct amounts left = amounts_of(&capacity), machines = amounts_of(&use.machines);
	amounts_add(&left, &machines, -1);
	for (uint32_t i = 0; i < s->candidate_count; i++) {
		struct amounts held = amounts_of(&s->candidates[i].resources);
		if (!s->candidates[i].chosen)
			amounts_add(&left, &held, -1);
	}
	return left;
}

static struct amounts left_by_all(const struct node *n, const struct resources *used)
{
	struct resources capacity = node_capacity(n);
	struct amounts left = amounts_of(&capacity), held = amounts_of(used);
	amounts_add(&left, &held, -1);
	return left;
}

// Which groups' penalties may decide among candidates of one priority. Where all give the same, any of them will do.
static uint64_t rivals_among(struct candidate **of, uint32_t count)
{
	uint64_t groups = 0;
	bool is_mixed = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct allocation *a = of[i]->allocation;
		struct amounts first = amounts_of(&of[0]->allocation->resources);
		struct amounts have = amounts_of(&a->resources);
		is_mixed |= memcmp(&have, &first, sizeof have) != 0;
		if (parallel_of(a) > 0)
			groups |= 1ull << victim_group_bit(a);
	}
	return is_mixed ? groups : 0;
}

static int64_t least_priority(const struct stack *s)
{
	CHECK(s->candidates_known);
	int64_t least = INT64_MAX;
	for (uint32_t i = 0; i < s->candidate_count; i++)
		if (s->candidates[i].preemptible && s->candidates[i].priority < least)
			least = s->candidates[i].priority;
	return least;
}

// No fewer victims suffice.
static int64_t fewest_victims(const struct choice *c)
{
	int64_t fewest = 1;
	for (uint32_t x = 0; x < DIMENSIONS; x++) {
		int64_t missing = c->ask.of[x] - c->available.of[x], most = 1;
		for (uint32_t i = 0; i < c->left_count; i++) {
			struct amounts have = amounts_of(&c->left[i]->allocation->resources);
			most = have.of[x] > most ? have.of[x] : most;
		}
		int64_t wanted = (missing + most - 1) / most;
		fewest = wanted > fewest ? wanted : fewest;
	}
	return fewest;
}

// Notes what the choice will rest on, before it is made.
static void note_basis(const struct choice *c)
{
	struct victim_basis *basis = &c->s->basis;
	CHECK(!c->met && c->taken_count == 0);
	for (uint32_t from = 0, end; from < c->left_count; from = end) {
		end = priority_end(c, from);
		basis->groups |= rivals_among(c->left + from, end - from);
	}
	if (basis->groups)
		basis->most = victim_score_most(least_priority(c->s), fewest_victims(c));
}

bool preempt_for_resources(struct stack *s, const struct node *n, const struct resources *used,
	const struct resources *ask)
{
	find_candidates(s, n->slot);
	struct amounts available =
		stack_is_strict(s, n->slot) ? left_by_all(n, used) : left_by_others(s, n);
	struct choice c = {.s = s, .available = available, .ask = amounts_of(ask)};
	c.remaining = c.ask;
	c.left = preemptible(s, &c.left_count);
	c.taken = memory_take_array(c.left_count + 1, sizeof *c.taken);
	if (s->kind == STACK_GENERIC)
		note_basis(&c);
	take_by_priority(&c);
	if (c.met)
		choose_enough(&c, available);
	free(c.left);
	free(c.taken);
	CHECK(!c.met || s->victim_count > 0);
	return c.met;
}

// Chooses the allocations that hold the port as victims. False: the port stays taken.
static bool free_port_of(struct stack *s, const char *address, int64_t port)
{
	CHECK(s->candidates_known);
	if (!address)
		return false;
	if (!port_is_taken(&s->ports, address, port))
		return true;
	bool freed = false;
	for (uint32_t i = 0; i < s->candidate_count; i++) {
		struct candidate *c = &s->candidates[i];
		if (!details_hold_port(c->details, address, port))
			continue;
		if (!c->preemptible)
			return false;
		choose_victim(s, c);
		freed = true;
	}
	return freed;
}

static const char *task_address(const struct node *n)
{
	const struct node_fittings *fittings = node_fittings(n);
	for (uint32_t i = 0; i < fittings->network_count; i++) {
		const struct node_network *network = &fittings->networks[i];
		if (network->device && network->device[0] && network->address_count > 0)
			return network->addresses[0].address;
	}
	return NULL;
}

static bool free_ports(
	struct stack *s, const struct node *n, const struct network_ask *ask, const char *address)
{
	uint32_t before = s->victim_count;
	find_candidates(s, n->slot);
	for (uint32_t i = 0; i < ask->reserved_ports.count; i++) {
		const struct port *port = ARRAY_AT(&ask->reserved_ports, struct port, i);
		if (!free_port_of(s, address ? address : port_address(n, port->host_network),
			    port->value))
			return false;
	}
	CHECK(s->victim_count >= before);
	return s->victim_count > before;
}

bool preempt_for_ports(struct stack *s, const struct node *n, const struct network_ask *ask)
{
	return free_ports(s, n, ask, NULL);
}

bool preempt_for_task_ports(struct stack *s, const struct node *n, const struct network_ask *ask)
{
	const char *address = task_address(n);
	return address && free_ports(s, n, ask, address);
}

struct device_option {
	struct candidate **victims;
	uint32_t count;
	int64_t priorities; // sum of the victims' distinct ones
};

static uint32_t instances_of(const struct candidate *c, uint32_t group)
{
	CHECK(group < NODE_DEVICE_GROUPS_MAX);
	return (uint32_t)__builtin_popcountll(allocation_devices(c->allocation)->groups[group]);
}

// Sorts the candidates with the most instances first, so that few victims suffice.
static void sort_by_instances(struct device_option *o, uint32_t group)
{
	for (uint32_t i = 1; i < o->count; i++) {
		struct candidate *moved = o->victims[i];
		uint32_t at = i;
		for (; at > 0 &&
			instances_of(o->victims[at - 1], group) < instances_of(moved, group);
			at--)
			o->victims[at] = o->victims[at - 1];
		o->victims[at] = moved;
	}
}

static void trim_option(struct device_option *o, uint32_t group, int64_t free_count, int64_t wanted)
{
	sort_by_instances(o, group);
	uint32_t kept = 0;
	for (; kept < o->count && free_count < wanted; kept++) {
		bool seen = false;
		free_count += instances_of(o->victims[kept], group);
		for (uint32_t i = 0; i < kept; i++)
			seen |= o->victims[i]->priority == o->victims[kept]->priority;
		o->priorities += seen ? 0 : o->victims[kept]->priority;
	}
	o->count = kept;
	CHECK(free_count >= wanted);
}

// Finds victims that hold instances of one device group. False: all candidates together are not enough.
static bool make_option(struct stack *s, uint32_t group, int64_t free_count, int64_t wanted,
	struct device_option *o)
{
	CHECK(!o->victims && o->count == 0);
	uint32_t count;
	int64_t reached = free_count;
	o->victims = preemptible(s, &count);
	for (uint32_t i = 0; i < count && reached < wanted; i++) {
		uint32_t instances = instances_of(o->victims[i], group);
		if (instances == 0)
			continue;
		o->victims[o->count++] = o->victims[i];
		reached += instances;
	}
	if (reached < wanted)
		return false;
	trim_option(o, group, free_count, wanted);
	return true;
}

bool preempt_for_devices(struct stack *s, const struct node *n, const struct device_need *need,
	const struct device_set *free_set)
{
	const struct node_class *c = n->node_class;
	struct device_option best = {.priorities = INT64_MAX};
	find_candidates(s, n->slot);
	for (uint32_t group = 0; group < c->device_count && group < NODE_DEVICE_GROUPS_MAX;
		group++) {
		struct device_option o = {0};
		int64_t free_count = __builtin_popcountll(free_set->groups[group]);
		if (!device_need_matches(need, c, group))
			continue;
		if (make_option(s, group, free_count, need->ask->count, &o) &&
			o.priorities < best.priorities) {
			free(best.victims);
			best = o;
		} else {
			free(o.victims);
		}
	}
	for (uint32_t i = 0; i < best.count; i++)
		choose_victim(s, best.victims[i]);
	free(best.victims);
	CHECK(best.priorities != INT64_MAX || best.count == 0);
	return best.priorities != INT64_MAX && best.count > 0;
}

double preemption_score(const struct allocation *const *victims, uint32_t count)
{
	CHECK(count == 0 || victims);
	double most = 0, sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		double priority = (double)victims[i]->job->priority;
		most = fmax(most, priority);
		sum += priority;
	}
	return victim_score_of_net(most > 0 ? most + sum / most : 0);
}
