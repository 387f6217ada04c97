#include "tests/placement/scheduler/stack/naive.h"
#include "placement/constraint/constraint.h"
#include "placement/direct/placement.h"
#include <fnmatch.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct held {
	const struct job *job;
	uint32_t group, slot;
	struct resources resources;
	int64_t port; // 0: none
	bool existing;
};

typedef void held_visit(const struct held *, void *context);

static bool is_in(const struct array *stops, const struct uuid *id)
{
	for (uint32_t i = 0; i < stops->count; i++)
		if (uuid_equal(&ARRAY_AT(stops, struct plan_stop, i)->id, id))
			return true;
	return false;
}

static int64_t port_of(const struct alloc_details *d)
{
	return d && d->ports.count ? ARRAY_AT(&d->ports, struct allocated_port, 0)->value : 0;
}

static void each_held(const struct naive *m, held_visit *visit, void *context)
{
	const struct plan *p = m->plan;
	for (const struct world_allocation *w = m->world->allocations; w; w = w->next) {
		const struct allocation *a = &w->record;
		if (allocation_is_terminal(a) || is_in(&p->stops, &a->id) ||
			is_in(&p->preemptions, &a->id))
			continue;
		struct held held = {
			a->job, a->group, a->node_slot, a->resources, port_of(a->details), true};
		visit(&held, context);
	}
	for (uint32_t i = 0; i < p->placements.count; i++) {
		const struct plan_placement *a = ARRAY_AT(&p->placements, struct plan_placement, i);
		struct held held = {
			m->job, a->group, a->slot, a->resources, port_of(a->details), false};
		visit(&held, context);
	}
}

static const char *group_name(const struct job *job, uint32_t group)
{
	return ARRAY_AT(&job->task_groups, struct task_group, group)->name;
}

struct tally_of_node {
	const struct naive *m;
	uint32_t slot;
	const char *group;
	uint64_t cpu, memory, disk;
	uint32_t of_job, of_group, all;
	int64_t wanted_port;
	bool port_taken;
};

static void tally_held(const struct held *h, void *context)
{
	struct tally_of_node *t = context;
	if (h->slot != t->slot)
		return;
	t->all++;
	t->cpu += h->resources.cpu_mhz;
	t->memory += h->resources.memory_mb;
	t->disk += h->resources.disk_mb;
	t->port_taken |= t->wanted_port && h->port == t->wanted_port;
	if (strcmp(h->job->id, t->m->job->id) == 0) {
		t->of_job++;
		t->of_group += strcmp(group_name(h->job, h->group), t->group) == 0;
	}
}

static bool value_of(const char *attribute, const struct node *n, char value[256])
{
	char id[UUID_TEXT_BYTES];
	struct node_property *p = node_property_compile(attribute);
	const char *found = node_property_value(p, n, id);
	snprintf(value, 256, "%s", found ? found : "");
	node_property_free(p);
	return found;
}

struct value_count {
	const struct naive *m;
	const char *attribute, *group; // group NULL: of the job
	uint32_t count;
	int64_t used[1024];
	char values[1024][256];
};

static void count_value(
	struct value_count *c, const struct job *job, uint32_t group, uint32_t slot, int64_t by)
{
	char value[256];
	uint32_t at = 0;
	if (strcmp(job->id, c->m->job->id) != 0 ||
		(c->group && strcmp(group_name(job, group), c->group) != 0) ||
		!value_of(c->attribute, c->m->world->nodes[slot], value))
		return;
	while (at < c->count && strcmp(c->values[at], value) != 0)
		at++;
	if (at == c->count) {
		assert_true(c->count < 1024);
		snprintf(c->values[at], 256, "%s", value);
		c->used[at] = 0;
		c->count++;
	}
	c->used[at] += by;
}

static void count_held(const struct held *h, void *context)
{
	count_value(context, h->job, h->group, h->slot, 1);
}

// Values whose counts were cleared stay known, as 0.
static void count_values(
	const struct naive *m, const char *attribute, const char *group, struct value_count *c)
{
	c->m = m;
	c->attribute = attribute;
	c->group = group;
	c->count = 0;
	each_held(m, count_held, c);
	for (const struct world_allocation *w = m->world->allocations; w; w = w->next)
		if (!allocation_is_terminal(&w->record))
			count_value(c, w->record.job, w->record.group, w->record.node_slot, 0);
}

static int64_t used_of(const struct value_count *c, const char *value)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (strcmp(c->values[i], value) == 0)
			return c->used[i];
	return 0;
}

static bool holds(const char *l, const char *r, const char *op, const struct node *n)
{
	struct constraint_error error;
	struct compiled_constraint *c = constraint_compile(l, r, op, &error);
	bool matches = c && constraint_matches_node(c, n);
	constraint_free(c);
	return matches;
}

static bool property_free(
	const struct naive *m, const struct constraint *c, const char *group, const struct node *n)
{
	static struct value_count counts;
	char value[256];
	int64_t limit = c->r_target && c->r_target[0] ? strtol(c->r_target, NULL, 10) : 1;
	if (!value_of(c->l_target, n, value))
		return false;
	count_values(m, c->l_target, group, &counts);
	return used_of(&counts, value) < limit;
}

static bool constraints_hold(const struct naive *m, const struct array *constraints,
	const char *group, const struct node *n, const struct tally_of_node *t, bool generic)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		bool fine;
		if (strcmp(c->operand, "distinct_hosts") == 0)
			fine = !generic || (group ? t->of_group : t->of_job) == 0;
		else if (strcmp(c->operand, "distinct_property") == 0)
			fine = property_free(m, c, group, n);
		else
			fine = holds(c->l_target, c->r_target, c->operand, n);
		if (!fine)
			return false;
	}
	return true;
}

static bool has_driver(const struct node *n, const char *driver)
{
	for (uint32_t i = 0; i < n->node_class->driver_count; i++)
		if (strcmp(n->node_class->drivers[i].name, driver) == 0)
			return n->node_class->drivers[i].value[0] == '1';
	return false;
}

static bool may_run(const struct naive *m, const struct task_group *g, const struct node *n,
	const struct tally_of_node *t, bool generic)
{
	if (!constraints_hold(m, &m->job->constraints, NULL, n, t, generic) ||
		!constraints_hold(m, &g->constraints, g->name, n, t, generic))
		return false;
	for (uint32_t i = 0; i < g->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&g->tasks, struct task, i);
		if (!has_driver(n, task->driver) ||
			!constraints_hold(m, &task->constraints, g->name, n, t, generic))
			return false;
	}
	return true;
}

static double affinity(const struct naive *m, const struct task_group *g, const struct node *n)
{
	double sum = 0, weights = 0;
	const struct array *lists[JOB_TASKS_MAX + 2] = {&m->job->affinities, &g->affinities};
	for (uint32_t i = 0; i < g->tasks.count; i++)
		lists[2 + i] = &ARRAY_AT(&g->tasks, struct task, i)->affinities;
	for (uint32_t i = 0; i < 2 + g->tasks.count; i++)
		for (uint32_t j = 0; j < lists[i]->count; j++) {
			const struct affinity *a = ARRAY_AT(lists[i], struct affinity, j);
			weights += fabs((double)a->weight);
			if (holds(a->l_target, a->r_target, a->operand, n))
				sum += (double)a->weight;
		}
	return sum == 0 ? 0 : sum / weights;
}

static double even(const struct value_count *c, const char *value)
{
	int64_t lo = INT64_MAX, hi = 0, cur = used_of(c, value);
	if (c->count == 0)
		return 0;
	for (uint32_t i = 0; i < c->count; i++) {
		lo = c->used[i] < lo ? c->used[i] : lo;
		hi = c->used[i] > hi ? c->used[i] : hi;
	}
	if (cur != lo)
		return lo == 0 ? -1 : (double)(lo - cur) / (double)lo;
	if (lo == hi)
		return -1;
	return lo == 0 ? 1 : (double)(hi - lo) / (double)lo;
}

// NaN: no target wants the value.
static double boost(const struct naive *m, const struct task_group *g, const struct spread *s,
	double share, const char *value)
{
	static struct value_count counts;
	double desired = -1, listed = 0;
	count_values(m, s->attribute, g->name, &counts);
	if (s->targets.count == 0)
		return even(&counts, value);
	int64_t used = 0, elsewhere = 0;
	for (uint32_t i = 0; i < counts.count; i++)
		used += counts.used[i];
	for (uint32_t i = 0; i < s->targets.count; i++) {
		const struct spread_target *t = ARRAY_AT(&s->targets, struct spread_target, i);
		double wanted = (double)t->percent / 100.0 * (double)g->count;
		listed += wanted;
		elsewhere += used_of(&counts, t->value);
		if (strcmp(t->value, value) == 0) {
			desired = wanted;
			used = used_of(&counts, value);
		}
	}
	if (desired < 0 && listed > 0 && listed < (double)g->count) {
		desired = (double)g->count - listed;
		used -= elsewhere;
	}
	if (desired < 0)
		return -1;
	return desired == 0 ? NAN : (desired - (double)(used + 1)) / desired * share;
}

// Of several spreads over one attribute the last counts: first the group's, then the job's.
static const struct spread *last_over(
	const struct naive *m, const struct task_group *g, const char *attribute)
{
	const struct array *lists[] = {&g->spreads, &m->job->spreads};
	const struct spread *last = NULL;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < lists[i]->count; j++)
			if (strcmp(ARRAY_AT(lists[i], struct spread, j)->attribute, attribute) == 0)
				last = ARRAY_AT(lists[i], struct spread, j);
	return last;
}

static double spread_weights(const struct naive *m, const struct task_group *g)
{
	const struct array *lists[] = {&m->job->spreads, &g->spreads};
	double weights = 0;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < lists[i]->count; j++)
			weights += (double)ARRAY_AT(lists[i], struct spread, j)->weight;
	return weights;
}

static double spreads(struct naive *m, const struct task_group *g, const struct node *n)
{
	const struct array *lists[] = {&m->job->spreads, &g->spreads};
	double weights = spread_weights(m, g), sum = 0;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < lists[i]->count; j++) {
			const struct spread *s =
				last_over(m, g, ARRAY_AT(lists[i], struct spread, j)->attribute);
			char value[256];
			double b = value_of(s->attribute, n, value)
					   ? boost(m, g, s, (double)s->weight / weights, value)
					   : -1;
			sum += isnan(b) ? m->lowest_boost : b;
		}
	return sum;
}

// Of all targets, and of a value that none has.
static void note_lowest(struct naive *m, const struct task_group *g)
{
	const struct array *lists[] = {&m->job->spreads, &g->spreads};
	double weights = spread_weights(m, g);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < lists[i]->count; j++) {
			const struct spread *s =
				last_over(m, g, ARRAY_AT(lists[i], struct spread, j)->attribute);
			for (uint32_t k = 0; s->targets.count && k <= s->targets.count; k++) {
				const char *value =
					k < s->targets.count
						? ARRAY_AT(&s->targets, struct spread_target, k)
							  ->value
						: "no target's";
				double b = boost(m, g, s, (double)s->weight / weights, value);
				if (b < m->lowest_boost)
					m->lowest_boost = b;
			}
		}
}

static bool is_penalised(const struct stack_request *r, const struct node *n)
{
	for (uint32_t i = 0; i < r->penalty_count; i++)
		if (uuid_equal(&r->penalty_nodes[i], &n->id))
			return true;
	return false;
}

// Row E32: idle nodes that ran it last come first, then idle nodes that ran none, then other idle ones. What failed on
// a node is no reason to come back.
static double preference(
	const struct stack_request *r, const struct task_group *g, const struct node *n, bool idle)
{
	if (!g->snapshot || strcmp(g->snapshot, "") == 0 || !idle)
		return 0;
	return is_penalised(r, n)                      ? 0.25
	       : strcmp(n->snapshot, g->snapshot) == 0 ? 1
	       : strcmp(n->snapshot, "") == 0          ? 0.5
						       : 0.25;
}

static double mean_score(struct naive *m, const struct stack_request *r, const struct task_group *g,
	const struct node *n, const struct tally_of_node *t, struct resources used)
{
	double parts[5] = {
		placement_score(m->world->config.algorithm == ALGORITHM_SPREAD ? PLACEMENT_SPREAD
									       : PLACEMENT_BINPACK,
			node_capacity(n), used)};
	if (t->of_group)
		parts[1] = -(double)(t->of_group + 1) / (double)g->count;
	if (is_penalised(r, n))
		parts[2] = -1;
	parts[3] = affinity(m, g, n);
	parts[4] = spreads(m, g, n);
	double sum = parts[0], count = 1;
	for (uint32_t i = 1; i < 5; i++) {
		sum += parts[i];
		count += parts[i] != 0;
	}
	return sum / count;
}

bool naive_is_candidate(const struct naive *m, const struct node *n)
{
	bool targeted = false;
	if (!n || n->status != NODE_READY || n->eligibility != NODE_ELIGIBLE || n->drain)
		return false;
	for (uint32_t i = 0; i < m->job->datacenters.count; i++)
		targeted |= fnmatch(*ARRAY_AT(&m->job->datacenters, char *, i),
				    n->node_class->datacenter, 0) == 0;
	return targeted && (strcmp(m->job->node_pool, "all") == 0 ||
				   strcmp(m->job->node_pool, n->node_class->pool) == 0);
}

struct naive_verdict naive_node(
	struct naive *m, const struct stack_request *r, const struct node *n, bool generic)
{
	const struct task_group *g = ARRAY_AT(&m->job->task_groups, struct task_group, r->group);
	struct resources ask = ARRAY_AT(&m->job->asks, struct group_ask, r->group)->resources;
	struct resources room = node_capacity(n);
	struct tally_of_node t = {.m = m, .slot = n->slot, .group = g->name};
	if (g->networks.count) {
		const struct network_ask *net = ARRAY_AT(&g->networks, struct network_ask, 0);
		t.wanted_port = ARRAY_AT(&net->reserved_ports, struct port, 0)->value;
	}
	each_held(m, tally_held, &t);
	if (!may_run(m, g, n, &t, generic))
		return (struct naive_verdict){.outcome = STACK_FILTERED};
	const char *dimension = t.port_taken                                ? "network"
				: t.cpu + ask.cpu_mhz > room.cpu_mhz        ? "cpu"
				: t.memory + ask.memory_mb > room.memory_mb ? "memory"
				: t.disk + ask.disk_mb > room.disk_mb       ? "disk"
									    : NULL;
	if (dimension)
		return (struct naive_verdict){.outcome = STACK_EXHAUSTED, .dimension = dimension};
	struct resources used = {(uint32_t)t.cpu + ask.cpu_mhz, (uint32_t)t.memory + ask.memory_mb,
		(uint32_t)t.disk + ask.disk_mb};
	return (struct naive_verdict){.score = mean_score(m, r, g, n, &t, used),
		.preference = preference(r, g, n, t.all == 0)};
}

struct naive_answer naive_select(struct naive *m, const struct stack_request *r)
{
	struct naive_answer best = {.slot = NODE_SLOT_NONE};
	const struct task_group *g = ARRAY_AT(&m->job->task_groups, struct task_group, r->group);
	note_lowest(m, g);
	for (uint32_t i = 0; i < m->world->node_count; i++) {
		uint32_t slot = (m->first_slot + i) % m->world->node_count;
		const struct node *n = m->world->nodes[slot];
		if (!naive_is_candidate(m, n))
			continue;
		struct naive_verdict v = naive_node(m, r, n, true);
		best.evaluated++;
		best.filtered += v.outcome == STACK_FILTERED;
		best.exhausted += v.outcome == STACK_EXHAUSTED;
		if (v.outcome == STACK_FITS &&
			(best.slot == NODE_SLOT_NONE || v.preference > best.preference ||
				(v.preference == best.preference && v.score > best.score))) {
			best.slot = slot;
			best.preference = v.preference;
			best.score = v.score;
		}
	}
	return best;
}
