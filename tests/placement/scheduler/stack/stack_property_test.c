// Random fleets, jobs and plans: single nodes and the best of all must match the naive model.
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include "tests/placement/scheduler/stack/random_run.h"
#include "tests/support/core/slowness.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ALIKE_RACKS 20u
#define ALIKE_NODES 280u
#define MANY_NODES 2100u // too many for all to get rows at once
#define OTHER_NODES 20u

// Where an instance failed before, some of them twice: more than there are nodes, at times.
#define PENALTIES 40u

// Whole racks of nodes that are all alike; the last nodes of the first, a large one, hold three of the job, which may
// have one in a rack.
static void make_racks(struct run *r, uint32_t first_nodes)
{
	char words[64];
	for (uint32_t i = 0; i < ALIKE_RACKS; i++) {
		snprintf(words, sizeof words, "cpu=4000 memory=8000 meta.rack=r%u", i);
		for (uint32_t k = 0; k < (i ? OTHER_NODES : first_nodes); k++)
			world_node(r->world, words);
	}
	r->job = world_job(r->world, "service web dc=dc*");
	constrain(&group_of(r->job)->constraints, "${meta.rack}", "distinct_property", "1");
	world_job_changed(r->job);
	for (uint32_t i = 0; i < 3; i++)
		r->held[i] = world_allocate(r->world, r->job, 0, first_nodes - 1 - i, i);
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
	assert_int_equal(select_keeping(r->twin, request, &o, &whole), found);
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
	bool found = select_keeping(r->stack, request, &o, &m);
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

static bool tells_classes(const char *attribute)
{
	return !strstr(attribute, "unique.");
}

static bool constrains_classes(const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		if (strcmp(c->operand, "distinct_property") == 0 && tells_classes(c->l_target))
			return true;
	}
	return false;
}

static bool spreads_over_classes(const struct array *spreads)
{
	for (uint32_t i = 0; i < spreads->count; i++)
		if (tells_classes(ARRAY_AT(spreads, struct spread, i)->attribute))
			return true;
	return false;
}

// Properties of classes are not worth the index for as many instances as there are nodes.
static bool may_gather(const struct run *r)
{
	const struct job *job = r->job;
	bool any = spreads_over_classes(&job->spreads) || constrains_classes(&job->constraints);
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, i);
		const struct task *task = ARRAY_AT(&g->tasks, struct task, 0);
		bool of_group = any || spreads_over_classes(&g->spreads) ||
				constrains_classes(&g->constraints) ||
				constrains_classes(&task->constraints);
		if (of_group && 2 * g->count > r->world->node_count)
			return true;
	}
	return false;
}

static void the_best_of_all_nodes(void **state)
{
	for (uint64_t seed = 0; seed < 80 / BUILD_SLOWNESS; seed++) {
		struct run r;
		random_run_begin(&r, seed, ANYTHING);
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
		assert_true(!r.view.fleet || may_gather(&r) || r.stack->gathered == 0);
		random_run_end(&r);
	}
}

static void check_runs(enum asked asked, uint64_t seeds, uint32_t instances, uint32_t changes)
{
	for (uint64_t seed = 0; seed < seeds / BUILD_SLOWNESS; seed++) {
		struct run r;
		random_run_begin(&r, seed, asked);
		for (uint32_t i = 0; i < instances; i++) {
			check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
			if (chance(&r, changes))
				change_plan(&r);
		}
		assert_true(!r.view.fleet || r.stack->gathered == 0);
		random_run_end(&r);
	}
}

// Values of which there are too many for a search of each, used more and more often.
static void the_best_where_racks_tell_classes_apart(void **state)
{
	check_runs(OF_RACKS, 8, 40, 20);
}

static void the_best_where_spreads_meet_what_is_liked(void **state)
{
	check_runs(OF_LIKED, 30, 25, 30);
}

// Few values are used; nodes with others are found without a look at all.
static void the_best_where_single_nodes_are_told_apart(void **state)
{
	check_runs(OF_NODES, 10, 25, 30);
}

static void the_best_where_many_properties_are_asked_for(void **state)
{
	check_runs(OF_MANY, 18, 15, 30);
}

// Metrics that rest on others begin anew now and then, and read the same.
static void metrics_of_many_instances(void **state)
{
	struct run r;
	uint32_t begun = 0, in_part = 0;
	random_run_begin(&r, 5, SIX_IN_A_RACK);
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
	random_run_end(&r);
}

static void check_used(struct run *r, const char *text, uint32_t nodes)
{
	struct stack_option o;
	struct alloc_metrics m = {0};
	assert_true(select_keeping(
		r->stack, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE}, &o, &m));
	alloc_details_release(o.details);
	assert_int_equal(count_get(&m.constraint_filtered, text), nodes);
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
	random_run_end(&r);
}

#define TARGETS 70u

// More combinations of named targets than few groups of classes, and an affinity for one of them or of one node.
static void check_many_targets(enum asked likes)
{
	char words[96];
	struct run r = {.world = world_create()};
	for (uint32_t i = 0; i < TARGETS * 130; i++) {
		snprintf(words, sizeof words,
			"cpu=%u memory=8000 meta.rack=r%u attr.unique.hostname=h%u",
			4000 + 100 * (i % 7), i % TARGETS, i % 1700);
		world_node(r.world, words);
	}
	r.job = world_job(r.world, "service web dc=dc* count=40");
	struct spread *spread = spread_over(&group_of(r.job)->spreads, "${meta.rack}");
	spread->weight = 100;
	for (uint32_t i = 0; i < TARGETS - 1; i++) {
		struct spread_target *t = array_append(&spread->targets, sizeof *t);
		snprintf(words, sizeof words, "r%u", i);
		set(&t->value, words);
		t->percent = i % 4 ? 1 : 2 - i / 60;
	}
	struct affinity *a = likes != ANYTHING ? prefer(&group_of(r.job)->affinities) : NULL;
	if (a)
		a->weight = 100;
	if (a) {
		set(&a->l_target, likes == OF_RACKS ? "${meta.rack}" : "${attr.unique.hostname}");
		set(&a->r_target, likes == OF_RACKS ? "r7" : "h77");
	}
	world_job_changed(r.job);
	begin_with_index(&r);
	for (uint32_t i = 0; i < (BUILD_SLOWNESS > 1 ? 2u : 12u); i++)
		check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	assert_int_equal(r.stack->gathered, 0);
	random_run_end(&r);
}

static void a_spread_may_name_many_targets(void **state)
{
	check_many_targets(ANYTHING);
	check_many_targets(OF_RACKS);
	check_many_targets(OF_LIKED);
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
	random_run_end(&r);
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
	random_run_end(&r);
}

// A search that went on beyond the first rack goes back to it once its value is free.
static void check_value_that_comes_free(bool by_sums, uint32_t nodes)
{
	struct run r = {.world = world_create()};
	make_racks(&r, nodes);
	if (by_sums) { // of which no node has more than others
		spread_over(&group_of(r.job)->spreads, "${node.datacenter}")->weight = 100;
		struct affinity *a = prefer(&group_of(r.job)->affinities);
		a->weight = 100;
		set(&a->l_target, "${node.unique.name}");
		set(&a->r_target, "nobody");
		world_job_changed(r.job);
	}
	begin_with_index(&r);
	for (uint32_t i = 0; i < 4; i++)
		check_best(&r, &(struct stack_request){.preferred_slot = NODE_SLOT_NONE});
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 3 allocs", nodes);
	stack_plan_stop(r.stack, r.held[0], STOP_NOT_NEEDED, false, NULL);
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 2 allocs", nodes);
	stack_plan_stop(r.stack, r.held[1], STOP_NOT_NEEDED, false, NULL);
	check_used(&r, "distinct_property: ${meta.rack}=r0 used by 1 allocs", nodes);
	stack_plan_stop(r.stack, r.held[2], STOP_NOT_NEEDED, false, NULL);
	check_chosen(&r, 0);
	assert_int_equal(r.stack->gathered, 0);
	random_run_end(&r);
}

static void a_value_that_comes_free_is_searched_again(void **state)
{
	for (uint32_t by_sums = 0; by_sums < 2; by_sums++) {
		check_value_that_comes_free(by_sums, ALIKE_NODES);
		check_value_that_comes_free(by_sums, MANY_NODES);
	}
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
		random_run_begin(&r, seed, ANYTHING);
		for (uint32_t i = 0; i < 40; i++) {
			uint32_t slot = below(&r, r.world->node_count);
			if (naive_is_candidate(&r.naive, r.world->nodes[slot]))
				check_node(&r, below(&r, r.job->task_groups.count), slot);
			if (chance(&r, 20))
				change_plan(&r);
		}
		random_run_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_nodes),
		cmocka_unit_test(the_best_where_racks_tell_classes_apart),
		cmocka_unit_test(the_best_where_spreads_meet_what_is_liked),
		cmocka_unit_test(the_best_where_single_nodes_are_told_apart),
		cmocka_unit_test(the_best_where_many_properties_are_asked_for),
		cmocka_unit_test(metrics_of_many_instances),
		cmocka_unit_test(nodes_that_a_spread_names_are_found),
		cmocka_unit_test(a_spread_may_name_many_targets),
		cmocka_unit_test(a_liked_node_is_found_in_any_class),
		cmocka_unit_test(a_class_of_used_nodes_is_refused),
		cmocka_unit_test(a_value_that_comes_free_is_searched_again),
		cmocka_unit_test(every_single_node),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
