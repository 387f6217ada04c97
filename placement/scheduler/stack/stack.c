#include "placement/scheduler/stack/stack.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Seeds the search for dynamic ports: the same for the same evaluation and state.
static uint64_t seed_of(const struct stack *s)
{
	return uuid_hash(&s->plan->eval_id) ^ s->view.index(s->view.context);
}

// Parts of the first memory of a stack, of which an evaluation of few instances needs no more.
#define OF_JOB_BYTES 8192u
#define LENT_BYTES 1024u

static void lend_memory(struct stack *s, struct arena *to, size_t bytes)
{
	CHECK(to != &s->memory);
	arena_begin(to, arena_room(&s->memory, bytes), bytes);
}

static struct stack *make_stack(struct arena memory)
{
	struct stack *s = arena_take(&memory, sizeof *s);
	s->memory = memory;
	lend_memory(s, &s->of_job, OF_JOB_BYTES);
	lend_memory(s, &s->lent, LENT_BYTES);
	return s;
}

static struct stack *begin_stack(
	struct stack *s, enum stack_kind kind, const struct scheduler_view *view, struct plan *plan)
{
	CHECK(plan);
	s->kind = kind;
	s->view = *view;
	s->plan = plan;
	s->stop_room = plan->stops.count;
	s->preemption_room = plan->preemptions.count;
	s->placement_room = plan->placements.count;
	s->update_room = plan->updates.count;
	proposal_begin(&s->proposal, &s->view, plan, &s->memory);
	stack_quota_begin(s);
	prng_seed(&s->ports.prng, seed_of(s));
	return s;
}

struct stack *stack_create(
	enum stack_kind kind, const struct scheduler_view *view, struct plan *plan)
{
	return begin_stack(make_stack((struct arena){0}), kind, view, plan);
}

struct stack *stack_create_in(struct stack_memory *first, enum stack_kind kind,
	const struct scheduler_view *view, struct plan *plan)
{
	struct arena memory;
	arena_begin(&memory, first->bytes, sizeof first->bytes);
	return begin_stack(make_stack(memory), kind, view, plan);
}

static void forget_job(struct stack *s)
{
	for (uint32_t i = 0; i < s->group_count; i++) {
		candidate_columns_destroy(s->columns[i]);
		candidate_columns_destroy(s->evicting[i]);
		group_rules_release(s->groups[i]);
	}
	job_rules_release(&s->job_rules);
	arena_clear(&s->of_job);
	s->available = (struct array){0};
	s->available_known = false;
	s->groups = NULL;
	s->columns = NULL;
	s->evicting = NULL;
	s->near = NULL;
	s->counted = NULL;
	s->group_count = 0;
	s->is_job_judged = false;
}

void stack_destroy(struct stack *s)
{
	if (!s)
		return;
	forget_job(s);
	stack_quota_release(s);
	reasons_release(&s->reasons);
	class_memo_release(&s->classes);
	victim_counts_release(&s->victim_counts);
	port_index_release(&s->ports);
	free(s->candidates);
	free(s->victims);
	free(s->best_victims);
	free(s->strict);
	arena_release(&s->lent);
	arena_release(&s->of_job);
	struct arena memory = s->memory;
	arena_release(&memory); // and with it the stack
}

// What is known of groups lies in one piece.
static void make_groups(struct stack *s)
{
	size_t each =
		sizeof *s->groups + sizeof *s->columns + sizeof *s->evicting + sizeof *s->near;

	s->groups = arena_take(&s->of_job, s->group_count * each);
	s->columns = (struct candidate_columns **)(s->groups + s->group_count);
	s->evicting = s->columns + s->group_count;
	s->near = (struct neighbour_counts **)(s->evicting + s->group_count);
}

// The job's node pool may prefer another algorithm than the configuration (row A55).
static enum placement_algorithm algorithm_for(const struct scheduler_view *view, const char *pool)
{
	CHECK(view->config && view->pool);
	enum scheduler_algorithm algorithm =
		node_pool_algorithm(view->pool(view->context, pool), view->config(view->context));
	return algorithm == ALGORITHM_SPREAD ? PLACEMENT_SPREAD : PLACEMENT_BINPACK;
}

static bool preempts(const struct preemption_config *config, const struct job *job)
{
	const struct job_traits *traits = job_traits_of(job);
	const bool *is_enabled = (const void *)((const char *)config + traits->preemption);

	return !traits->is_direct && *is_enabled;
}

void stack_set_job(struct stack *s, const struct job *job)
{
	CHECK(job);
	struct property_set *set;
	forget_job(s);
	s->job = job;
	s->algorithm = algorithm_for(&s->view, job->node_pool);
	s->preemption = preempts(&s->view.config(s->view.context)->preemption, job);
	s->group_count = job->task_groups.count;
	make_groups(s);
	class_memo_begin(&s->classes, s->group_count);
	job_rules_compile(&s->job_rules, job, &s->view, &s->of_job);
	for (uint32_t i = 0; (set = job_rules_property(&s->job_rules, i)); i++)
		stack_count_planned(s, set);
	CHECK(s->group_count == job->task_groups.count);
}

static void be_strict_on_slot(struct stack *s, uint32_t slot)
{
	CHECK(s->strict);
	if (slot < s->proposal.slots)
		s->strict[slot / 8] |= (uint8_t)(1u << slot % 8);
}

void stack_be_strict_on(struct stack *s, const struct array *node_ids)
{
	if (node_ids->count && !s->strict)
		s->strict = memory_take(s->proposal.slots / 8 + 1);
	for (uint32_t i = 0; i < node_ids->count; i++) {
		const struct uuid *id = ARRAY_AT(node_ids, struct uuid, i);
		const struct node *node = s->view.node_by_id(s->view.context, id);
		if (node)
			be_strict_on_slot(s, node->slot);
	}
}

void stack_know_allocations(struct stack *s, const struct array *allocations)
{
	CHECK(!s->allocations);
	s->allocations = allocations;
}

void stack_break_ties(struct stack *s, uint64_t number)
{
	CHECK(s->group_count == 0);
	s->first_slot = s->proposal.slots ? (uint32_t)(number % s->proposal.slots) : 0;
}

struct group_rules *stack_group(struct stack *s, uint32_t group)
{
	CHECK(group < s->group_count);
	if (!s->groups[group]) {
		struct property_set *set;
		s->groups[group] =
			group_rules_create(&s->job_rules, s->job, group, &s->view, &s->of_job);
		for (uint32_t i = 0; (set = group_rules_property(s->groups[group], i)); i++)
			stack_count_planned(s, set);
	}
	return s->groups[group];
}

static bool filtered(struct stack_option *o, const char *reason)
{
	o->outcome = STACK_FILTERED;
	o->reason = reason;
	return false;
}

static bool look_at_node(struct stack *s, uint32_t group, uint32_t name_index, uint32_t slot,
	bool evict, struct stack_option *o)
{
	struct group_rules *g = stack_group(s, group);
	const struct node *n = s->view.node_at(s->view.context, slot);
	option_begin(o, n);
	if (!n)
		return filtered(o, "node is gone");
	o->claims_seen = stack_claims_seen(s, slot);
	const char *refusal = stack_check_static(s, g, n, name_index);
	if (!refusal)
		refusal = stack_check_distinct(s, g, n);
	if (refusal)
		return filtered(o, refusal);
	if (!stack_fit(s, g, n, evict, o))
		return false;
	option_settle(o);
	return true;
}

bool stack_select_node(
	struct stack *s, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *o)
{
	return look_at_node(s, group, name_index, slot, s->preemption, o);
}

bool stack_take_node(
	struct stack *s, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *o)
{
	while (stack_select_node(s, group, name_index, slot, o))
		if (stack_claim(s, o))
			return true;
	return false;
}

bool stack_stay_on_node(
	struct stack *s, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *o)
{
	return look_at_node(
		s, group, name_index, slot, s->preemption && s->kind == STACK_SYSTEM, o);
}

// A class is ineligible when the job found it so, else eligible when any group did, else ineligible when any group did.
static enum class_verdict class_verdict_of(const struct remembered_class *e, uint32_t groups)
{
	CHECK(e->serial_next);
	enum class_verdict verdict = e->job;
	if (e->job == CLASS_INELIGIBLE)
		return CLASS_INELIGIBLE;
	for (uint32_t i = 0; i < groups; i++)
		if (e->groups[i] == CLASS_ELIGIBLE)
			return CLASS_ELIGIBLE;
		else if (e->groups[i] == CLASS_INELIGIBLE)
			verdict = CLASS_INELIGIBLE;
	return verdict;
}

static bool group_escapes(struct stack *s, uint32_t group)
{
	return stack_group(s, group)->needs.rules.escapes;
}

void stack_eligibility(struct stack *s, struct evaluation *e)
{
	CHECK(s->job);
	e->escaped_computed_class |= s->job_rules.needs.rules.escapes;
	for (uint32_t i = 0; i < s->group_count; i++)
		e->escaped_computed_class |= group_escapes(s, i);
	if (!e->escaped_computed_class)
		candidate_columns_remember_classes(s);
	for (uint32_t i = 0; i < s->classes.known_count && !e->escaped_computed_class; i++) {
		const struct remembered_class *entry =
			class_memo_entry(&s->classes, s->classes.known[i]);
		enum class_verdict verdict = class_verdict_of(entry, s->group_count);
		char name[32];
		if (verdict == CLASS_UNKNOWN)
			continue;
		snprintf(name, sizeof name, "v1:%llu", (unsigned long long)entry->hash);
		struct named_count *item = map_item(&e->class_eligibility, sizeof *item, name);
		item->count |= verdict == CLASS_ELIGIBLE;
	}
}
