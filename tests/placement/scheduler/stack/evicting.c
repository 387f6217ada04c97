#include "tests/placement/scheduler/stack/evicting.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Where an instance failed before, some of them twice: more than there are nodes, at times.
#define PENALTIES 40u
#define VICTIMS_MAX 64u

struct answer {
	struct stack_option option;
	const struct allocation *victims[VICTIMS_MAX];
	struct alloc_metrics metrics;
};

static uint32_t below(struct evicting *r, uint32_t bound)
{
	return (uint32_t)prng_below(&r->prng, bound);
}

static bool chance(struct evicting *r, uint32_t percent)
{
	return below(r, 100) < percent;
}

void evicting_open_stacks(struct evicting *r)
{
	for (uint32_t i = 0; i < 2; i++) {
		r->plans[i] = plan_create();
		r->stacks[i] = stack_create(STACK_GENERIC, &r->view, r->plans[i]);
		stack_break_ties(r->stacks[i], r->first_slot);
		stack_set_job(r->stacks[i], r->job);
	}
}

void evicting_end(struct evicting *r)
{
	for (uint32_t i = 0; i < 2; i++) {
		stack_destroy(r->stacks[i]);
		plan_free(r->plans[i]);
	}
	view_fleet_destroy(r->fleet);
	world_destroy(r->world);
}

static void look_at_node(struct stack *s, const struct stack_request *request, const struct node *n,
	const char *refusal, struct stack_option *o)
{
	struct group_rules *g = stack_group(s, request->group);
	option_begin(o, n);
	if (!refusal)
		refusal = stack_check_distinct(s, g, n);
	if (refusal) {
		o->outcome = STACK_FILTERED;
		o->reason = refusal;
	} else if (stack_fit(s, g, n, true, o)) {
		stack_rank(s, g, request, o);
	}
}

static void keep_answer(struct answer *a, struct stack_option *o)
{
	alloc_details_release(a->option.details);
	a->option = *o;
	a->option.preempted = a->victims;
	assert_in_range(o->preempted_count, 0, VICTIMS_MAX);
	if (o->preempted_count)
		memcpy(a->victims, o->preempted, o->preempted_count * sizeof *a->victims);
}

static void offer(struct answer *a, struct stack_option *o)
{
	stack_count(o, &a->metrics);
	if (o->outcome == STACK_FITS && (!a->option.node || option_is_better(o, &a->option)))
		keep_answer(a, o);
	else
		alloc_details_release(o->details);
}

static const struct node *candidate_at(struct evicting *r, struct stack *s, uint32_t slot)
{
	const struct node *n = r->world->nodes[slot % r->world->node_count];
	return n && node_is_usable(n) && stack_targets_node(s, n) ? n : NULL;
}

static void look_at_all(struct evicting *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	struct group_rules *g = stack_group(s, request->group);
	candidate_columns_remember_classes(s);
	// The memo says but once why a class is refused.
	const char **refusals = memory_take_array(r->world->node_count, sizeof *refusals);
	for (uint32_t slot = 0; slot < r->world->node_count; slot++) {
		const struct node *n = candidate_at(r, s, slot);
		refusals[slot] = n ? stack_check_static(s, g, n, request->name_index) : NULL;
	}
	for (uint32_t i = 0; i < g->spread_count; i++)
		(void)spread_unlisted(&g->spreads[i], g->lowest_boost);
	for (uint32_t i = 0; i < r->world->node_count; i++) {
		struct stack_option o;
		const struct node *n = candidate_at(r, s, r->first_slot + i);
		if (!n)
			continue;
		look_at_node(s, request, n, refusals[n->slot], &o);
		offer(a, &o);
	}
	free(refusals);
}

static void forget(struct answer *a)
{
	metrics_release(&a->metrics);
	a->metrics = (struct alloc_metrics){0};
}

static bool look_at_preferred(
	struct evicting *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	struct stack_option o;
	const struct node *n = request->preferred_slot != NODE_SLOT_NONE
				       ? candidate_at(r, s, request->preferred_slot)
				       : NULL;
	if (!n)
		return false;
	look_at_node(
		s, request, n, stack_check_static(s, stack_group(s, request->group), n, 0), &o);
	offer(a, &o);
	if (!a->option.node)
		forget(a);
	return a->option.node;
}

// The first pass is what a stack that never evicts finds.
static void ask_naive(struct evicting *r, const struct stack_request *request, struct answer *a)
{
	struct stack *s = r->stacks[1];
	s->preemption = false;
	if (select_keeping(s, request, &a->option, &a->metrics))
		return;
	s->preemption = true;
	forget(a);
	option_begin(&a->option, NULL);
	if (!look_at_preferred(r, request, a))
		look_at_all(r, request, a);
}

static void ask_stack(struct evicting *r, const struct stack_request *request, struct answer *a)
{
	struct stack_option o;
	if (select_keeping(r->stacks[0], request, &o, &a->metrics))
		keep_answer(a, &o);
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

static void check_scores(const struct array *scores, const struct array *wanted)
{
	assert_int_equal(scores->count, wanted->count);
	for (uint32_t i = 0; i < scores->count; i++) {
		const struct node_score *s = ARRAY_AT(scores, struct node_score, i),
					*w = ARRAY_AT(wanted, struct node_score, i);
		assert_memory_equal(&s->node_id, &w->node_id, sizeof s->node_id);
		assert_memory_equal(&s->norm_score, &w->norm_score, sizeof s->norm_score);
		assert_memory_equal(&s->scores, &w->scores, sizeof s->scores);
	}
}

static void check_metrics(const struct alloc_metrics *m, const struct alloc_metrics *wanted)
{
	assert_int_equal(m->nodes_evaluated, wanted->nodes_evaluated);
	assert_int_equal(m->nodes_filtered, wanted->nodes_filtered);
	assert_int_equal(m->nodes_exhausted, wanted->nodes_exhausted);
	check_counts(&m->constraint_filtered, &wanted->constraint_filtered);
	check_counts(&m->dimension_exhausted, &wanted->dimension_exhausted);
	check_counts(&m->class_filtered, &wanted->class_filtered);
	check_counts(&m->class_exhausted, &wanted->class_exhausted);
	check_scores(&m->score_metadata, &wanted->score_metadata);
}

static void check_option(const struct answer *got, const struct answer *wanted)
{
	const struct stack_option *o = &got->option, *w = &wanted->option;
	assert_int_equal(o->slot, w->slot);
	assert_memory_equal(&o->score, &w->score, sizeof o->score);
	assert_memory_equal(o->scores, w->scores, sizeof o->scores);
	assert_int_equal(o->recorded, w->recorded);
	assert_int_equal(o->preempted_count, w->preempted_count);
	for (uint32_t i = 0; i < o->preempted_count; i++)
		assert_ptr_equal(got->victims[i], wanted->victims[i]);
}

static void place(struct evicting *r, struct stack *s, struct plan *plan, const struct answer *a)
{
	struct plan_placement p = {.slot = a->option.slot,
		.node_id = a->option.node->id,
		.resources = a->option.resources,
		.devices = a->option.devices,
		.details = alloc_details_share(a->option.details),
		.metrics = PLAN_NO_METRICS};
	p.id.bytes[0] = 0xb0;
	p.id.bytes[15] = (uint8_t)(r->placed + 1);
	for (uint32_t i = 0; i < a->option.preempted_count; i++)
		stack_plan_preempt(s, a->victims[i], &p.id);
	stack_plan_place(s, &p);
	CHECK(plan->placements.count > 0);
}

static void check_placement(struct evicting *r, struct answer *got, struct answer *wanted)
{
	struct alloc_metrics told;
	check_option(got, wanted);
	uint32_t number = stack_keep_metrics(r->stacks[0], &got->metrics);
	shared_metrics_read(
		*ARRAY_AT(&r->plans[0]->metrics, struct shared_metrics *, number), &told);
	// Without victims the stack looks for ports and devices where it would place; this model, once nothing fits.
	if (got->option.preempted_count || stack_group(r->stacks[0], 0)->plain)
		check_metrics(&told, &wanted->metrics);
	metrics_release(&told);
	place(r, r->stacks[0], r->plans[0], wanted);
	place(r, r->stacks[1], r->plans[1], wanted);
	r->placed++;
	r->with_victims += got->option.preempted_count > 0;
}

void evicting_check_instance(struct evicting *r)
{
	struct uuid penalties[PENALTIES];
	struct stack_request request = {.preferred_slot = NODE_SLOT_NONE,
		.penalty_nodes = penalties,
		.penalty_count = chance(r, 20) ? below(r, PENALTIES + 1) : 0};
	for (uint32_t i = 0; i < PENALTIES; i++)
		penalties[i] = r->world->nodes[below(r, r->world->node_count)]->id;
	if (chance(r, 10))
		request.preferred_slot = below(r, r->world->node_count);
	struct answer got = {0}, wanted = {0};
	option_begin(&got.option, NULL);
	ask_stack(r, &request, &got);
	ask_naive(r, &request, &wanted);
	assert_int_equal(!got.option.node, !wanted.option.node);
	if (wanted.option.node) {
		check_placement(r, &got, &wanted);
	} else {
		check_metrics(&got.metrics, &wanted.metrics);
		r->refused++;
	}
	alloc_details_release(got.option.details);
	alloc_details_release(wanted.option.details);
	metrics_release(&got.metrics);
	metrics_release(&wanted.metrics);
}

static bool is_planned(const struct array *stops, const struct allocation *a)
{
	for (uint32_t i = 0; i < stops->count; i++)
		if (uuid_equal(&ARRAY_AT(stops, struct plan_stop, i)->id, &a->id))
			return true;
	return false;
}

void evicting_change_plan(struct evicting *r)
{
	const struct world_allocation *a = r->world->allocations;
	bool is_own = chance(r, 50);
	for (uint32_t at = below(r, r->world->allocation_count + 1); a && at > 0; at--)
		a = a->next;
	while (a && is_own && a->record.job != r->job)
		a = a->next;
	if (!a || is_planned(&r->plans[0]->preemptions, &a->record) ||
		is_planned(&r->plans[0]->stops, &a->record))
		return;
	for (uint32_t i = 0; i < 2; i++)
		if (a->record.job == r->job)
			stack_plan_stop(r->stacks[i], &a->record, STOP_NOT_NEEDED, false, NULL);
		else if (allocation_holds_room(&a->record))
			stack_plan_preempt(r->stacks[i], &a->record, &(struct uuid){{1}});
}

void evicting_be_strict_somewhere(struct evicting *r)
{
	struct uuid id = r->world->nodes[below(r, r->world->node_count)]->id;
	struct array ids = {&id, 1};
	for (uint32_t i = 0; i < 2; i++)
		stack_be_strict_on(r->stacks[i], &ids);
}
