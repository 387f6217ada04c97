// Random fleets, jobs and plans: single nodes and the best of all must match the naive model.
#include "placement/scheduler/node/stack_state.h"
#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/stack/view_fleet.h"
#include "state/base/prng.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/stack/naive.h"
#include "tests/support/core/slowness.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// What a run asks for: anything; only what racks decide; at most six instances in each of many racks; what names of
// nodes and hosts decide, too; what up to six properties decide.
enum asked { ANYTHING, OF_RACKS, SIX_IN_A_RACK, OF_NODES, OF_MANY };

#define ALIKE_RACKS 20u
#define ALIKE_NODES 2100u // too many for all to get rows at once
#define OTHER_NODES 20u
#define FEW_HOSTS 6u

// Where an instance failed before, some of them twice: more than there are nodes, at times.
#define PENALTIES 40u

struct run {
	struct prng prng;
	enum asked asked;
	struct world *world;
	struct scheduler_view view;
	struct view_fleet *fleet;
	struct plan *plan;
	struct stack *stack;
	struct plan *twin_plan;
	struct stack *twin; // does and is asked the same, but keeps no metrics; NULL: there is none
	struct job *job;
	struct naive naive;
	uint32_t placed;
	struct allocation *held[3];
	uint32_t racks; // few, or so many that classes are not grouped by them
	uint32_t hosts; // names of hosts, some of which are of several nodes
};

static uint32_t below(struct run *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static bool chance(struct run *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

static void make_node(struct run *r)
{
	char words[384];
	int at = snprintf(words, sizeof words,
		"dc=%s class=%s cpu=%u memory=%u disk=%u attr.arch=%s",
		chance(r, 80) ? "dc1" : "dc2", below(r, 2) ? "large" : "small",
		1000 + 500 * below(r, 5), 1000 + 1000 * below(r, 4), 500 + 500 * below(r, 3),
		chance(r, 80) ? "amd64" : "arm64");
	if (chance(r, 80))
		at += snprintf(words + at, sizeof words - (size_t)at, " meta.rack=r%u",
			below(r, r->racks));
	if (chance(r, 10))
		at += snprintf(words + at, sizeof words - (size_t)at, " no-driver");
	if (chance(r, 5))
		at += snprintf(words + at, sizeof words - (size_t)at, " ineligible");
	if (chance(r, 20))
		at += snprintf(words + at, sizeof words - (size_t)at, " reserved=100/200/50");
	if (chance(r, 50))
		at += snprintf(words + at, sizeof words - (size_t)at, " snapshot=s%u", below(r, 3));
	if (chance(r, r->hosts == FEW_HOSTS ? 100 : 90))
		at += snprintf(words + at, sizeof words - (size_t)at, " attr.unique.hostname=h%u",
			below(r, r->hosts));
	// Classes that are the same to all who look at them.
	if (chance(r, 40))
		at += snprintf(
			words + at, sizeof words - (size_t)at, " meta.serial=%u", below(r, 20));
	for (uint32_t i = 0; i < 6 && r->asked == OF_MANY; i++)
		at += snprintf(words + at, sizeof words - (size_t)at, " meta.p%u=v%u", i,
			below(r, 3 + 2 * i));
	world_node(r->world, words);
}

static void random_constraint(struct run *r, struct array *to)
{
	static const char *const rows[][3] = {{"${attr.arch}", "=", "amd64"},
		{"${node.class}", "=", "large"}, {"${meta.rack}", "is_set", ""},
		{"${meta.rack}", "!=", "r1"}, {"${attr.unique.hostname}", "regexp", "h[0-3]"},
		{"", "distinct_hosts", ""}, {"${meta.rack}", "distinct_property", "2"},
		{"${node.class}", "distinct_property", "3"},
		{"${attr.unique.hostname}", "distinct_property", ""}};
	const char *const *row = rows[below(r, COUNT(rows))];
	constrain(to, row[0], row[1], row[2]);
}

static void random_affinity(struct run *r, struct array *to)
{
	struct affinity *a = prefer(to);
	a->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 30))
		a->weight = -a->weight;
	if (chance(r, 50)) {
		set(&a->l_target, "${attr.unique.hostname}");
		set(&a->r_target, "h2");
	}
}

static void random_spread(struct run *r, struct array *to)
{
	static const char *const attributes[] = {"${meta.rack}", "${node.class}",
		"${node.datacenter}", "${attr.unique.hostname}", "${node.unique.name}"};
	static const char *const targets[][2] = {{"r1", "r2"}, {"small", "large"}, {"dc1", "dc3"},
		{"h1", "h2"}, {"node-1", "node-2"}};
	uint32_t at = below(r, r->asked == OF_RACKS ? 3 : COUNT(attributes));
	if (r->asked == OF_NODES && chance(r, 60))
		at = 3 + below(r, 2);
	struct spread *s = spread_over(to, attributes[at]);
	s->weight = 1 + below(r, 100);
	for (uint32_t i = 0, left = 100; i < 2 && chance(r, 50); i++) {
		struct spread_target *t = array_append(&s->targets, sizeof *t);
		set(&t->value, targets[at][i]);
		t->percent = chance(r, 20) ? 0 : chance(r, 40) ? left : below(r, left + 1);
		left -= (uint32_t)t->percent;
	}
}

static void random_group(struct run *r, struct task_group *g)
{
	struct task *task = ARRAY_AT(&g->tasks, struct task, 0);
	g->count = 1 + below(r, 8);
	g->disk.size_mb = chance(r, 30) ? 200 : 0;
	task->resources.cpu = 100 * below(r, 6);
	task->resources.memory_mb = 100 * below(r, 8);
	if (chance(r, 40))
		random_constraint(r, chance(r, 50) ? &g->constraints : &task->constraints);
	if (chance(r, 25))
		random_affinity(r, chance(r, 50) ? &g->affinities : &task->affinities);
	if (chance(r, 25))
		random_spread(r, &g->spreads);
	if (chance(r, 50))
		set(&g->snapshot, below(r, 3) ? "s0" : "s1");
	if (chance(r, 20)) {
		struct network_ask *n = array_append(&g->networks, sizeof *n);
		struct port *port = array_append(&n->reserved_ports, sizeof *port);
		set(&port->label, "p");
		port->value = 8000 + below(r, 2);
	}
}

static void make_job(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	if (chance(r, 20))
		set(ARRAY_AT(&r->job->datacenters, char *, 0), "dc1");
	random_group(r, group_of(r->job));
	if (chance(r, 50)) {
		struct task_group *second = add_group(r->job, "b");
		add_task(second, "t");
		random_group(r, second);
	}
	if (chance(r, 30))
		random_constraint(r, &r->job->constraints);
	if (chance(r, 20))
		random_affinity(r, &r->job->affinities);
	if (chance(r, 20))
		random_spread(r, &r->job->spreads);
	world_job_changed(r->job);
}

// A plain group whose classes are told apart by their racks.
static void make_job_of_racks(struct run *r)
{
	static const char *const limits[] = {"", "2", "3"};
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 2);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 100 * below(r, 6);
	if (chance(r, 60))
		constrain(
			&g->constraints, "${meta.rack}", "distinct_property", limits[below(r, 3)]);
	if (chance(r, 60))
		random_spread(r, &g->spreads);
	if (chance(r, 30))
		random_spread(r, &r->job->spreads);
	if (chance(r, 30))
		prefer(&g->affinities)->weight = (int64_t)below(r, 100) + 1;
	else if (chance(r, 30))
		random_affinity(r, &g->affinities);
	if (chance(r, 30))
		constrain(&g->constraints, "", "distinct_hosts", "");
	world_job_changed(r->job);
}

static void constrain_nodes(struct run *r, struct array *to)
{
	static const char *const rows[][2] = {{"${attr.unique.hostname}", ""},
		{"${attr.unique.hostname}", "2"}, {"${node.unique.name}", "2"},
		{"${node.unique.id}", ""}, {"${meta.rack}", "3"}};
	const char *const *row = rows[below(r, COUNT(rows))];
	constrain(to, row[0], "distinct_property", row[1]);
}

// A group whose nodes are told apart by what is their own, and maybe by their racks, too.
static void make_job_of_nodes(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 9);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 100 * below(r, 6);
	if (chance(r, 50))
		constrain_nodes(r, &g->constraints);
	if (chance(r, 30))
		constrain_nodes(r, &r->job->constraints);
	if (chance(r, 60))
		random_spread(r, &g->spreads);
	if (chance(r, 30))
		random_spread(r, &r->job->spreads);
	if (chance(r, 30))
		prefer(&g->affinities)->weight = (int64_t)below(r, 100) + 1;
	if (chance(r, 20))
		constrain(&g->constraints, "${attr.unique.hostname}", "!=", "h3");
	if (chance(r, 20))
		constrain(&g->constraints, "", "distinct_hosts", "");
	world_job_changed(r->job);
}

// Of few values each, which together make more groups of classes than are searched.
static void make_job_of_many(struct run *r)
{
	char property[32];
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	g->count = 1 + below(r, 9);
	for (uint32_t i = below(r, 3); i < 6; i++) {
		snprintf(property, sizeof property, "${meta.p%u}", i);
		if (chance(r, 20))
			constrain(&g->constraints, property, "distinct_property", "3");
		else
			spread_over(&g->spreads, property)->weight = 1 + below(r, 100);
	}
	world_job_changed(r->job);
}

static void fill(struct run *r)
{
	struct job *other = world_job(r->world, "service other cpu=300 memory=300");
	uint32_t count = below(r, 2 * r->world->node_count);
	for (uint32_t i = 0; i < count; i++) {
		struct job *job = chance(r, 30) ? r->job : other;
		uint32_t group = below(r, job->task_groups.count);
		uint32_t slot = below(r, r->world->node_count);
		struct allocation *a = world_allocate(r->world, job, group, slot, i);
		if (chance(r, 10))
			a->client_status = ALLOC_FAILED;
		else if (chance(r, 5))
			world_hold_port(a, "p", 8000 + below(r, 2),
				node_fittings(r->world->nodes[slot])
					->networks[0]
					.addresses[0]
					.address);
	}
}

static void make_job_of_six_in_a_rack(struct run *r)
{
	r->job = world_job(r->world, "service web dc=dc*");
	struct task_group *g = group_of(r->job);
	ARRAY_AT(&g->tasks, struct task, 0)->resources.cpu = 10;
	ARRAY_AT(&g->tasks, struct task, 0)->resources.memory_mb = 10;
	constrain(&g->constraints, "${meta.rack}", "distinct_property", "6");
	world_job_changed(r->job);
}

// Whole racks of nodes that are all alike; the last nodes of the first, a large one, hold three of the job, which may
// have one in a rack.
static void make_racks(struct run *r)
{
	char words[64];
	for (uint32_t i = 0; i < ALIKE_RACKS; i++) {
		snprintf(words, sizeof words, "cpu=4000 memory=8000 meta.rack=r%u", i);
		for (uint32_t k = 0; k < (i ? OTHER_NODES : ALIKE_NODES); k++)
			world_node(r->world, words);
	}
	r->job = world_job(r->world, "service web dc=dc*");
	constrain(&group_of(r->job)->constraints, "${meta.rack}", "distinct_property", "1");
	world_job_changed(r->job);
	for (uint32_t i = 0; i < 3; i++)
		r->held[i] = world_allocate(r->world, r->job, 0, ALIKE_NODES - 1 - i, i);
}

static void begin(struct run *r, uint64_t seed, enum asked asked)
{
	*r = (struct run){.asked = asked, .world = world_create()};
	prng_seed(&r->prng, seed);
	r->world->config.algorithm = below(r, 2) ? ALGORITHM_SPREAD : ALGORITHM_BINPACK;
	uint32_t nodes = 1 + below(r, chance(r, 3) ? 300 : 30);
	r->racks = asked == ANYTHING && chance(r, 60) ? 4 : 20 + below(r, 40);
	if (asked != ANYTHING)
		nodes = 100 + below(r, 80);
	r->hosts = asked == OF_NODES && chance(r, 70) ? 2 * nodes : FEW_HOSTS;
	if (asked == SIX_IN_A_RACK)
		r->racks = 60;
	for (uint32_t i = 0; i < nodes; i++)
		make_node(r);
	static void (*const makers[])(struct run *) = {make_job, make_job_of_racks,
		make_job_of_six_in_a_rack, make_job_of_nodes, make_job_of_many};
	makers[asked](r);
	fill(r);
	r->view = world_view(r->world);
	r->fleet = view_fleet_create();
	if (chance(r, 70))
		view_fleet_begin(r->fleet, &r->view);
	r->plan = plan_create();
	r->plan->eval_id.bytes[0] = (uint8_t)seed;
	r->stack = stack_create(STACK_GENERIC, &r->view, r->plan);
	uint32_t first_slot = seed % 2 ? 0 : below(r, r->world->node_count);
	stack_break_ties(r->stack, first_slot);
	stack_set_job(r->stack, r->job);
	if (asked != ANYTHING) {
		r->twin_plan = plan_create();
		r->twin = stack_create(STACK_GENERIC, &r->view, r->twin_plan);
		stack_break_ties(r->twin, first_slot);
		stack_set_job(r->twin, r->job);
	}
	r->naive = (struct naive){r->world, r->plan, r->job, first_slot, -1};
}

static void end(struct run *r)
{
	stack_destroy(r->twin);
	plan_free(r->twin_plan);
	stack_destroy(r->stack);
	view_fleet_destroy(r->fleet);
	plan_free(r->plan);
	world_destroy(r->world);
}

static const struct allocation *random_allocation(struct run *r)
{
	const struct world_allocation *a = r->world->allocations;
	uint32_t at = r->world->allocation_count ? below(r, r->world->allocation_count) : 0;
	while (a && at--)
		a = a->next;
	return a ? &a->record : NULL;
}

static bool is_planned(const struct array *stops, const struct allocation *a)
{
	for (uint32_t i = 0; i < stops->count; i++)
		if (uuid_equal(&ARRAY_AT(stops, struct plan_stop, i)->id, &a->id))
			return true;
	return false;
}

static void change_stack(
	struct run *r, struct stack *s, const struct allocation *a, bool is_stopped)
{
	if (is_stopped)
		stack_plan_unstop(s, &a->id);
	else if (a->job == r->job)
		stack_plan_stop(s, a, STOP_NOT_NEEDED, false, NULL);
	else if (!allocation_is_terminal(a))
		stack_plan_preempt(s, a, &(struct uuid){{1}});
}

static void change_plan(struct run *r)
{
	const struct allocation *a = random_allocation(r);
	if (!a || is_planned(&r->plan->preemptions, a))
		return;
	bool is_stopped = is_planned(&r->plan->stops, a);
	change_stack(r, r->stack, a, is_stopped);
	if (r->twin)
		change_stack(r, r->twin, a, is_stopped);
}

static void place(struct run *r, uint32_t group, struct stack_option *o)
{
	struct plan_placement p = {.slot = o->slot,
		.node_id = o->node->id,
		.group = (uint16_t)group,
		.resources = o->resources,
		.details = o->details,
		.metrics = PLAN_NO_METRICS};
	p.id.bytes[0] = 0xb0;
	p.id.bytes[15] = (uint8_t)++r->placed;
	o->details = NULL;
	stack_plan_place(r->stack, &p);
	p.details = NULL; // ports, which no job of a twin asks for
	if (r->twin)
		stack_plan_place(r->twin, &p);
}

static void check_as_good(struct run *r, const struct stack_request *request, const struct node *n,
	const struct naive_answer *wanted)
{
	struct naive_verdict v = naive_node(&r->naive, request, n, true);
	assert_float_equal(v.preference, wanted->preference, 0);
	assert_float_equal(v.score, wanted->score, 1e-12);
}

static void check_counts(const struct array *counts, const struct array *wanted)
{
	assert_int_equal(counts->count, wanted->count);
	for (uint32_t i = 0; i < counts->count; i++) {
		const struct named_count *count = ARRAY_AT(counts, struct named_count, i);
		assert_string_equal(count->name, ARRAY_AT(wanted, struct named_count, i)->name);
		assert_int_equal(count->count, ARRAY_AT(wanted, struct named_count, i)->count);
	}
}

static void check_equal(const struct alloc_metrics *m, const struct alloc_metrics *wanted)
{
	check_counts(&m->constraint_filtered, &wanted->constraint_filtered);
	check_counts(&m->dimension_exhausted, &wanted->dimension_exhausted);
	check_counts(&m->class_filtered, &wanted->class_filtered);
	check_counts(&m->class_exhausted, &wanted->class_exhausted);
	assert_int_equal(m->nodes_evaluated, wanted->nodes_evaluated);
	assert_int_equal(m->nodes_filtered, wanted->nodes_filtered);
	assert_int_equal(m->nodes_exhausted, wanted->nodes_exhausted);
}

// What stands in the plan, or is told of an instance that finds no node, must say what the twin says, which tells
// everything each time.
static void check_told(struct run *r, const struct stack_request *request, bool found,
	const struct alloc_metrics *m)
{
	struct stack_option o;
	struct alloc_metrics told = {0}, whole = {0};
	assert_int_equal(stack_select(r->twin, request, &o, &whole), found);
	if (found) {
		alloc_details_release(o.details);
		uint32_t number = stack_keep_metrics(r->stack, m);
		shared_metrics_read(
			*ARRAY_AT(&r->plan->metrics, struct shared_metrics *, number), &told);
	}
	check_equal(found ? &told : m, &whole);
	metrics_release(&told);
	metrics_release(&whole);
}

static void check_best(struct run *r, const struct stack_request *request)
{
	struct stack_option o;
	struct alloc_metrics m = {0};
	bool found = stack_select(r->stack, request, &o, &m);
	struct naive_answer wanted = naive_select(&r->naive, request);
	assert_int_equal(found, wanted.slot != NODE_SLOT_NONE);
	assert_int_equal(m.nodes_evaluated, wanted.evaluated);
	assert_int_equal(m.nodes_filtered, wanted.filtered);
	// The stack checks ports on nodes that it would choose; on all nodes when it chooses none.
	const struct task_group *g =
		ARRAY_AT(&r->job->task_groups, struct task_group, request->group);
	if (found && g->networks.count)
		assert_in_range(m.nodes_exhausted, 0, wanted.exhausted);
	else
		assert_int_equal(m.nodes_exhausted, wanted.exhausted);
	if (found) {
		const struct node_score *top = ARRAY_AT(&m.score_metadata, struct node_score, 0);
		assert_float_equal(o.scores[SCORE_SNAPSHOT], wanted.preference, 0);
		assert_float_equal(o.score, wanted.score, 1e-12);
		// Scores that differ only by the order of additions may go either way.
		if (o.slot != wanted.slot)
			check_as_good(r, request, o.node, &wanted);
		assert_float_equal(top->norm_score, o.score, 0);
	}
	if (r->twin)
		check_told(r, request, found, &m);
	if (found)
		place(r, request->group, &o);
	metrics_release(&m);
}

static bool has_properties_in(const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++)
		if (strcmp(ARRAY_AT(constraints, struct constraint, i)->operand,
			    "distinct_property") == 0)
			return true;
	return false;
}

// Properties are not worth the index in a small fleet.
static bool has_properties(const struct job *job)
{
	bool any = job->spreads.count > 0 || has_properties_in(&job->constraints);
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, i);
		const struct task *task = ARRAY_AT(&g->tasks, struct task, 0);
		any |= g->spreads.count > 0 || has_properties_in(&g->constraints) ||
		       has_properties_in(&task->constraints);
	}
	return any;
}

static void the_best_of_all_nodes(void **state)
{
	for (uint64_t seed = 0; seed < 80 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, ANYTHING);
		for (uint32_t i = 0; i < 12; i++) {
			struct uuid penalties[PENALTIES];
			struct stack_request request = {
				.group = below(&r, r.job->task_groups.count),
				.preferred_slot = NODE_SLOT_NONE,
				.penalty_nodes = penalties,
				.penalty_count = chance(&r, 20) ? below(&r, PENALTIES + 1) : 0};
			for (uint32_t k = 0; k < PENALTIES; k++)
				penalties[k] = r.world->nodes[below(&r, r.world->node_count)]->id;
			check_best(&r, &request);
			if (chance(&r, 40))
				change_plan(&r);
		}
		assert_true(!r.view.fleet || has_properties(r.job) || r.stack->gathered == 0);
		end(&r);
	}
}

// Values of which there are too many for a search of each, used more and more often.
static void the_best_where_racks_tell_classes_apart(void **state)
{
	for (uint64_t seed = 0; seed < 8 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, OF_RACKS);
		for (uint32_t i = 0; i < 40; i++) {
			struct stack_request request = {.preferred_slot = NODE_SLOT_NONE};
			check_best(&r, &request);
			if (chance(&r, 20))
				change_plan(&r);
		}
		end(&r);
	}
}

// Few values are used; nodes with others are found without a look at all.
static void the_best_where_single_nodes_are_told_apart(void **state)
{
	for (uint64_t seed = 0; seed < 10 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, OF_NODES);
		for (uint32_t i = 0; i < 25; i++) {
			struct stack_request request = {.preferred_slot = NODE_SLOT_NONE};
			check_best(&r, &request);
			if (chance(&r, 30))
				change_plan(&r);
		}
		assert_true(!r.view.fleet || r.stack->gathered == 0);
		end(&r);
	}
}

static void the_best_where_many_properties_are_asked_for(void **state)
{
	for (uint64_t seed = 0; seed < 6; seed += BUILD_SLOWNESS) {
		struct run r;
		begin(&r, seed, OF_MANY);
		for (uint32_t i = 0; i < 15; i++) {
			struct stack_request request = {.preferred_slot = NODE_SLOT_NONE};
			check_best(&r, &request);
			if (chance(&r, 30))
				change_plan(&r);
		}
		assert_true(!r.view.fleet || r.stack->gathered == 0);
		end(&r);
	}
}

// Metrics that rest on others begin anew now and then, and read the same.
static void metrics_of_many_instances(void **state)
{
	struct run r;
	uint32_t begun = 0, in_part = 0;
	begin(&r, 5, SIX_IN_A_RACK);
	for (uint32_t i = 0; i < 250; i++)
		check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	for (uint32_t i = 0; i < r.plan->metrics.count; i++) {
		const struct shared_metrics *m =
			*ARRAY_AT(&r.plan->metrics, struct shared_metrics *, i);
		in_part += m->rests;
		begun += in_part > 0 && !m->rests;
		assert_true(!m->rests || shared_metrics_size(m) <
						 1000); // one that says everything takes thousands
	}
	assert_true(in_part > METRICS_BASES_MAX && begun > 0);
	end(&r);
}

static void check_used(struct run *r, const char *text)
{
	struct stack_option o;
	struct alloc_metrics m = {0};
	assert_true(stack_select(
		r->stack, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE}, &o, &m));
	alloc_details_release(o.details);
	assert_int_equal(count_get(&m.constraint_filtered, text), ALIKE_NODES);
	metrics_release(&m);
}

// Asks about the job of the world as it is.
static void begin_with_index(struct run *r)
{
	r->view = world_view(r->world);
	r->fleet = view_fleet_create();
	view_fleet_begin(r->fleet, &r->view);
	r->plan = plan_create();
	r->stack = stack_create(STACK_GENERIC, &r->view, r->plan);
	stack_set_job(r->stack, r->job);
	r->naive = (struct naive){r->world, r->plan, r->job, 0, -1};
}

static void check_chosen(struct run *r, uint32_t slot)
{
	check_best(r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	assert_int_equal(
		ARRAY_AT(&r->plan->placements, struct plan_placement, r->placed - 1)->slot, slot);
}

// Nobody has used their values yet.
static void nodes_that_a_spread_names_are_found(void **state)
{
	struct run r = {.world = world_create()};
	for (uint32_t i = 0; i < 40; i++)
		world_node(r.world, "cpu=4000 memory=8000");
	r.job = world_job(r.world, "service web dc=dc* count=4");
	struct spread *spread = spread_over(&group_of(r.job)->spreads, "${node.unique.name}");
	spread->weight = 100;
	for (uint32_t i = 0; i < 2; i++) {
		struct spread_target *t = array_append(&spread->targets, sizeof *t);
		set(&t->value, i ? "node-30" : "node-17");
		t->percent = i ? 25 : 75;
	}
	world_job_changed(r.job);
	begin_with_index(&r);
	check_chosen(&r, 17);
	check_chosen(&r, 30);
	assert_int_equal(r.stack->gathered, 0);
	end(&r);
}

// However good the nodes of one class are, one of another class may be the one that is liked.
static void a_liked_node_is_found_in_any_class(void **state)
{
	struct run r = {.world = world_create()};
	for (uint32_t i = 0; i < 40; i++)
		world_node(r.world, i < 39 ? "class=small" : "class=large attr.unique.hostname=me");
	r.job = world_job(r.world, "service web dc=dc* count=4");
	struct affinity *a = prefer(&group_of(r.job)->affinities);
	a->weight = 100;
	set(&a->l_target, "${attr.unique.hostname}");
	set(&a->r_target, "me");
	constrain(&group_of(r.job)->constraints, "${node.class}", "distinct_property", "9");
	world_job_changed(r.job);
	begin_with_index(&r);
	check_chosen(&r, 39);
	assert_int_equal(r.stack->gathered, 0);
	end(&r);
}

// All nodes of a class have used values of their own when the value of the class is used up.
static void a_class_of_used_nodes_is_refused(void **state)
{
	struct run r = {.world = world_create()};
	for (uint32_t i = 0; i < 8; i++)
		world_node(r.world, i < 2 ? "class=small" : "class=large");
	r.job = world_job(r.world, "service web dc=dc* count=4");
	spread_over(&group_of(r.job)->spreads, "${node.unique.name}")->weight = 100;
	constrain(&group_of(r.job)->constraints, "${node.class}", "distinct_property", "2");
	world_job_changed(r.job);
	begin_with_index(&r);
	for (uint32_t i = 0; i < 5; i++)
		check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	assert_int_equal(r.placed, 4);
	assert_int_equal(r.stack->gathered, 0);
	end(&r);
}

// A search that went on beyond the first rack goes back to it once its value is free.
static void a_value_that_comes_free_is_searched_again(void **state)
{
	struct run r = {.world = world_create()};
	make_racks(&r);
	begin_with_index(&r);
	for (uint32_t i = 0; i < 4; i++)
		check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 3 allocs");
	stack_plan_stop(r.stack, r.held[0], STOP_NOT_NEEDED, false, NULL);
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 2 allocs");
	stack_plan_stop(r.stack, r.held[1], STOP_NOT_NEEDED, false, NULL);
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 1 allocs");
	stack_plan_stop(r.stack, r.held[2], STOP_NOT_NEEDED, false, NULL);
	check_chosen(&r, 0);
	end(&r);
}

static void check_node(struct run *r, uint32_t group, uint32_t slot)
{
	struct stack_option o;
	const struct node *n = r->world->nodes[slot];
	struct stack_request request = {.group = group, .preferred_slot = NODE_SLOT_NONE};
	bool fits = stack_select_node(r->stack, group, 0, slot, &o);
	struct naive_verdict wanted = naive_node(&r->naive, &request, n, true);
	assert_int_equal(fits, wanted.outcome == STACK_FITS);
	assert_int_equal(o.outcome, wanted.outcome);
	if (wanted.outcome == STACK_EXHAUSTED)
		assert_int_equal(strncmp(o.reason, wanted.dimension, strlen(wanted.dimension)), 0);
	if (fits && chance(r, 30))
		place(r, group, &o);
	alloc_details_release(fits ? o.details : NULL);
}

static void every_single_node(void **state)
{
	for (uint64_t seed = 1000; seed < 1000 + 100 / BUILD_SLOWNESS; seed++) {
		struct run r;
		begin(&r, seed, ANYTHING);
		for (uint32_t i = 0; i < 40; i++) {
			uint32_t slot = below(&r, r.world->node_count);
			if (naive_is_candidate(&r.naive, r.world->nodes[slot]))
				check_node(&r, below(&r, r.job->task_groups.count), slot);
			if (chance(&r, 20))
				change_plan(&r);
		}
		end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_nodes),
		cmocka_unit_test(the_best_where_racks_tell_classes_apart),
		cmocka_unit_test(the_best_where_single_nodes_are_told_apart),
		cmocka_unit_test(the_best_where_many_properties_are_asked_for),
		cmocka_unit_test(metrics_of_many_instances),
		cmocka_unit_test(nodes_that_a_spread_names_are_found),
		cmocka_unit_test(a_liked_node_is_found_in_any_class),
		cmocka_unit_test(a_class_of_used_nodes_is_refused),
		cmocka_unit_test(a_value_that_comes_free_is_searched_again),
		cmocka_unit_test(every_single_node),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
