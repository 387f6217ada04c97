// Selects the exact best of all nodes (rows A56–A62, A65).
#include "placement/direct/claims.h"
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "placement/scheduler/stack/stack.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct scan {
	struct stack *s;
	struct group_rules *g;
	const struct stack_request *request;
	bool evict;
	struct stack_option *best;
	struct alloc_metrics *metrics;
};

static void evaluate_node(const struct scan *scan, const struct node *n, struct stack_option *o)
{
	struct stack *s = scan->s;
	option_begin(o, n);
	o->claims_seen = stack_claims_seen(s, n->slot);
	const char *refusal = stack_check_static(s, scan->g, n, scan->request->name_index);
	if (!refusal)
		refusal = stack_check_distinct(s, scan->g, n);
	if (refusal) {
		o->outcome = STACK_FILTERED;
		o->reason = refusal;
	} else if (stack_fit(s, scan->g, n, scan->evict, o)) {
		stack_rank(s, scan->g, scan->request, o);
	}
}

// Keeps the victims, which are scratch, of a node that is the best so far.
static void keep_victims(struct stack *s, struct stack_option *o)
{
	if (s->best_victim_room < o->preempted_count) {
		s->best_victim_room = o->preempted_count * 2;
		s->best_victims = memory_resize(
			s->best_victims, s->best_victim_room * sizeof(*s->best_victims));
	}
	if (o->preempted_count > 0)
		memcpy(s->best_victims, o->preempted,
			o->preempted_count * sizeof(*s->best_victims));
	o->preempted = s->best_victims;
}

// Its memory is the stack's, until the next selection.
static void keep_scores(const struct scan *scan, const struct stack_option *o)
{
	struct array *scores = &scan->metrics->score_metadata;
	if (!scores->items)
		scores->items = arena_room(&scan->s->lent, SCORES_KEPT * sizeof(struct node_score));
	option_keep_scores(o, scores);
}

static bool is_candidate(struct stack *s, const struct node *n)
{
	return n && node_is_usable(n) && stack_targets_node(s, n);
}

// The columns know everything but ports, penalties, who the victims are, and what others claimed since the columns were
// made. A claim that comes after this look is refused by claims_seen, which was read before.
static bool is_known(const struct scan *scan, const struct candidate_columns *c, bool is_penalised)
{
	const struct scheduler_view *view = &scan->s->view;
	if (is_penalised || !candidate_columns_know_scores(c))
		return false;
	return !view->claims || claimant_others_taken(view->claims) == view->others_taken;
}

// Evaluates a row that looks open. False: it does not fit; an exhausted row is marked.
static bool try_row(const struct scan *scan, struct candidate_columns *c, uint32_t row,
	bool is_penalised, struct stack_option *o)
{
	CHECK(row < c->row_count);
	uint32_t claims_seen = stack_claims_seen(scan->s, c->slot_of[row]);
	if (is_known(scan, c, is_penalised)) {
		candidate_columns_describe(c, row, o);
		o->claims_seen = claims_seen;
	} else {
		evaluate_node(scan, c->nodes[row], o);
	}
	if (o->outcome == STACK_EXHAUSTED)
		candidate_columns_refuse(c, row, o->reason);
	return o->outcome == STACK_FITS;
}

static void offer_row(const struct scan *scan, struct stack_option *o)
{
	CHECK(o->outcome == STACK_FITS);
	struct stack_option *best = scan->best;
	bool better = !best->node || option_is_better(o, best) ||
		      (!option_is_better(best, o) && stack_is_first(scan->s, o->slot, best->slot));
	keep_scores(scan, o);
	alloc_details_release(better ? best->details : o->details);
	if (!better)
		return;
	*best = *o;
	keep_victims(scan->s, best);
}

static void order_by_slot(const struct candidate_columns *c, uint32_t *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t row = rows[i], at = i;
		for (; at > 0 && candidate_columns_is_first(c, row, rows[at - 1]); at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

// Gives the best of the rows its devices and cores, if it was only described. False: it is exhausted, because others
// have claimed some of it since it was described.
static bool settle_best(const struct scan *scan, struct candidate_columns *c)
{
	struct stack_option *best = scan->best, given;
	if (!best->node || scan->g->plain || best->details || !candidate_columns_know_scores(c))
		return true;
	option_begin(&given, best->node);
	if (!stack_fit(scan->s, scan->g, best->node, false, &given)) {
		candidate_columns_refuse(c, candidate_columns_row_of(c, best->slot), given.reason);
		return false;
	}
	best->resources = given.resources;
	best->devices = given.devices;
	best->details = given.details;
	return true;
}

// The rows that an instance may go to: the best few, and behind them those of nodes where it failed before.
struct trial {
	uint32_t *rows, *penalised;
	uint32_t count, penalties;
	uint32_t few[2 * ROWS_WANTED_FEW];
	uint32_t *many; // NULL: few will do
};

static void begin_trial(struct trial *t, uint32_t penalties)
{
	uint32_t most = penalties + SCORES_KEPT;

	t->many = most > ROWS_WANTED_FEW ? memory_take_array(most, 2 * sizeof *t->many) : NULL;
	t->rows = t->many ? t->many : t->few;
	t->penalised = t->rows + (t->many ? most : ROWS_WANTED_FEW);
	t->count = t->penalties = 0;
}

// In the order of their numbers.
static void find_penalised(
	struct trial *t, struct candidate_columns *c, const struct stack_request *r)
{
	const struct scheduler_view *view = &c->s->view;

	for (uint32_t i = 0; i < r->penalty_count; i++) {
		const struct node *n = view->node_by_id(view->context, &r->penalty_nodes[i]);
		uint32_t row = n ? candidate_columns_row_for(c, n->slot) : ROW_NONE;
		uint32_t at = rows_find(t->penalised, t->penalties, row);
		if (row == ROW_NONE || (at < t->penalties && t->penalised[at] == row))
			continue;
		memmove(t->penalised + at + 1, t->penalised + at,
			(t->penalties++ - at) * sizeof *t->penalised);
		t->penalised[at] = row;
	}
	CHECK(t->penalties <= r->penalty_count);
}

// Columns know no penalties, so that all rows with one are tried, in the order of their slots among the best, as equal
// scores are told.
static void find_rows(struct trial *t, struct candidate_columns *c, const struct stack_request *r)
{
	begin_trial(t, r->penalty_count);
	find_penalised(t, c, r);
	t->count = candidate_columns_top(c, t->penalised, t->penalties, SCORES_KEPT, t->rows);
	if (t->penalties == 0)
		return;
	memcpy(t->rows + t->count, t->penalised, t->penalties * sizeof *t->rows);
	t->count += t->penalties;
	order_by_slot(c, t->rows, t->count);
}

// False: one of the rows turned out to be exhausted, so there may be others.
static bool try_top(const struct scan *scan, struct candidate_columns *c)
{
	struct trial t;
	bool all_fit = true;

	find_rows(&t, c, scan->request);
	for (uint32_t i = 0; i < t.count; i++) {
		struct stack_option o;
		uint32_t row = t.rows[i];
		if (c->refusals[row])
			continue;
		if (try_row(scan, c, row, rows_have(t.penalised, t.penalties, row), &o))
			offer_row(scan, &o);
		else
			all_fit &= o.outcome != STACK_EXHAUSTED;
	}
	free(t.many);
	return all_fit && settle_best(scan, c);
}

// Those of an instance with volumes of its own serve no other. again: the group was asked for before.
static struct candidate_columns *take_columns(const struct scan *scan, bool *again)
{
	struct stack *s = scan->s;
	struct candidate_columns **all = scan->evict ? s->evicting : s->columns;
	struct candidate_columns **of_group = &all[scan->g->number];
	uint32_t name_index = scan->request->name_index;

	*again = *of_group;
	if (*of_group && scan->g->needs.volumes_per_alloc &&
		(*of_group)->name_index != name_index) {
		candidate_columns_destroy(*of_group);
		*of_group = NULL;
	}
	if (!*of_group)
		*of_group = candidate_columns_create(s, scan->g, name_index, scan->evict);
	return *of_group;
}

static bool select_by_columns(const struct scan *scan)
{
	CHECK(scan->g->number < scan->s->group_count);
	struct stack *s = scan->s;
	bool again;
	struct candidate_columns *c = take_columns(scan, &again);
	candidate_columns_catch_up(c);
	while (!try_top(scan, c)) {
		scan->metrics->score_metadata.count = 0;
		alloc_details_release(scan->best->details);
		option_begin(scan->best, NULL);
	}
	// With preemption a second pass finds out why.
	if (!scan->best->node && !s->preemption)
		candidate_columns_look_into_full(c);
	if (again)
		candidate_columns_count_later(c);
	candidate_columns_count(c, again, scan->best->node, scan->metrics);
	s->counted = again ? c : NULL;
	return scan->best->node;
}

static bool try_preferred(const struct scan *scan)
{
	const struct scheduler_view *view = &scan->s->view;
	const struct stack_request *r = scan->request;
	const struct node *n = r->preferred_slot != NODE_SLOT_NONE
				       ? view->node_at(view->context, r->preferred_slot)
				       : NULL;
	struct stack_option o;
	if (!is_candidate(scan->s, n))
		return false;
	evaluate_node(scan, n, &o);
	if (o.outcome != STACK_FITS)
		return false;
	scan->metrics->nodes_evaluated = 1;
	offer_row(scan, &o);
	return true;
}

uint32_t stack_keep_metrics(struct stack *s, const struct alloc_metrics *metrics)
{
	struct array *all = &s->plan->metrics;
	uint32_t number = all->count;
	CHECK(metrics->back >= 0 && metrics->back <= number);
	struct shared_metrics *base =
		metrics->back ? *ARRAY_AT(all, struct shared_metrics *, number - metrics->back)
			      : NULL;
	struct shared_metrics *shared = shared_metrics_create_after(
		metrics, base, number ? *ARRAY_AT(all, struct shared_metrics *, number - 1) : NULL);
	*(struct shared_metrics **)array_append(all, sizeof shared) = shared;
	if (s->counted)
		candidate_columns_are_told(s->counted, number);
	s->counted = NULL;
	return number;
}

static bool select_once(struct stack *s, const struct stack_request *r, struct stack_option *o,
	struct alloc_metrics *metrics)
{
	CHECK(s->job && r->group < s->group_count);
	CHECK(r->penalty_count == 0 || r->penalty_nodes);
	struct scan scan = {s, stack_group(s, r->group), r, false, o, metrics};
	option_begin(o, NULL);
	arena_clear(&s->lent);
	for (uint32_t pass = 0; pass < (s->preemption ? 2u : 1u); pass++) {
		scan.evict = pass == 1;
		s->counted = NULL;
		*metrics = (struct alloc_metrics){0};
		if (try_preferred(&scan) || select_by_columns(&scan))
			return true;
	}
	CHECK(!o->node);
	return false;
}

bool stack_select(struct stack *s, const struct stack_request *r, struct stack_option *o,
	struct alloc_metrics *metrics)
{
	while (select_once(s, r, o, metrics))
		if (stack_claim(s, o))
			return true;
	return false;
}
