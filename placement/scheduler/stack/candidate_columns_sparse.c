// Columns without a look at every node: what classes decide is known by class, and rows are made only of nodes that
// come into question. Those that this plan or this job touches have one each; of all others the fit tree finds the
// best of each affinity, a few at a time. As long as enough of those that it found are as it found them, no node
// without a row can be among the best.
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "placement/scheduler/stack/class_key.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/jobs/job_reevaluations.h"
#include <stdlib.h>
#include <string.h>

#define FETCHED_MOST 256u // at once

static const char *const shortages[FIT_SHORTAGES] = {
	[SHORT_OF_CPU] = "cpu",
	[SHORT_OF_MEMORY] = "memory",
	[SHORT_OF_DISK] = "disk",
};

static void judge_class(
	void *context, const struct node_class *node_class, struct class_judgement *judgement)
{
	const struct candidate_columns *c = context;
	struct node any = {.node_class = (struct node_class *)node_class};

	if (!job_targets_node(c->s->job, &any)) {
		judgement->verdict = CLASS_UNTARGETED;
		return;
	}
	judgement->refusal = stack_check_class(c->s, c->g, node_class, &judgement->by_job);
	judgement->verdict = judgement->refusal ? CLASS_REFUSED : CLASS_TAKEN;
	if (!judgement->refusal && c->g->affinity_count)
		judgement->affinity = affinity_score(c->g, &any);
}

// Whether all that tells two free nodes apart is their class and their room.
static bool classes_decide(const struct candidate_columns *c)
{
	const struct group_rules *g = c->g;
	const struct job_rules *job = &c->s->job_rules;

	return g->plain && !g->volumes && !g->snapshot && g->spread_count == 0 &&
	       g->distinct.property_count == 0 && job->distinct.property_count == 0 &&
	       !g->constraints.escapes && !job->constraints.escapes && !g->affinity_unique;
}

// Notes the verdict on a class as if its nodes had been looked at.
static void remember_class(struct candidate_columns *c, uint32_t id)
{
	const struct class_in_set *in = &c->set->classes[id];
	if (in->ready == 0 || in->verdict == CLASS_UNTARGETED)
		return;
	struct remembered_class *memo =
		class_memo_of(&c->s->classes, fit_index_class(c->fleet->fit, id));
	uint8_t verdict = in->verdict == CLASS_TAKEN ? CLASS_ELIGIBLE : CLASS_INELIGIBLE;

	memo->targeted = CLASS_ELIGIBLE;
	memo->job = in->by_job ? CLASS_INELIGIBLE : CLASS_ELIGIBLE;
	if (!in->by_job)
		memo->groups[c->g->number] = verdict;
}

void candidate_columns_remember_classes(struct candidate_columns *c)
{
	for (uint32_t id = 0; c->fleet && id < c->set->class_count; id++)
		remember_class(c, id);
}

// The first node of a class that is looked at says why, the others that the class is known. Once a group of the job
// was asked for, all classes are known that the job itself refuses.
static void count_refused(struct candidate_columns *c, const struct refused_tally *t)
{
	uint32_t explained = t->by_job && c->s->is_job_judged ? 0 : t->classes;
	const char *refusal = reasons_format(&c->s->reasons, "%s", t->refusal);

	CHECK(t->nodes >= t->classes);
	if (t->nodes == 0)
		return;
	refusal_counts_add(&c->first, refusal, t->class_name, STACK_FILTERED, explained);
	refusal_counts_add(&c->first, reason_class_ineligible, t->class_name, STACK_FILTERED,
		t->nodes - explained);
	refusal_counts_add(
		&c->later, reason_class_ineligible, t->class_name, STACK_FILTERED, t->nodes);
}

// Classes of which a single node was looked at before say no more why.
static void count_remembered(struct candidate_columns *c, uint32_t id)
{
	const struct class_in_set *in = &c->set->classes[id];
	const struct remembered_class *memo = class_memo_entry(&c->s->classes, id);
	uint8_t known = in->by_job ? memo->job : memo->groups[c->g->number];

	if (in->ready == 0 || in->verdict != CLASS_REFUSED || known != CLASS_INELIGIBLE ||
		(in->by_job && c->s->is_job_judged))
		return;
	const struct refused_tally *t = &c->set->tallies.refused[in->tally];
	const char *refusal = reasons_format(&c->s->reasons, "%s", t->refusal);
	refusal_counts_add(&c->first, refusal, t->class_name, STACK_FILTERED, -1);
	refusal_counts_add(&c->first, reason_class_ineligible, t->class_name, STACK_FILTERED, 1);
}

static void count_classes(struct candidate_columns *c)
{
	const struct class_tallies *t = &c->set->tallies;
	const struct class_memo *memo = &c->s->classes;

	c->candidates = t->candidates;
	for (uint32_t i = 0; i < t->refused_count; i++)
		count_refused(c, &t->refused[i]);
	for (uint32_t i = 0; i < memo->known_count; i++)
		if (memo->known[i] < c->set->class_count)
			count_remembered(c, memo->known[i]);
	for (uint32_t i = 0; i < t->short_count; i++)
		for (uint32_t j = 0; j < FIT_SHORTAGES; j++)
			if (t->shorts[i].nodes[j] > 0)
				refusal_counts_add(&c->refused, shortages[j],
					t->shorts[i].class_name, STACK_EXHAUSTED,
					t->shorts[i].nodes[j]);
	for (uint32_t i = 0; i < t->available_count; i++)
		stack_note_available(c->s, t->available[i].datacenter, t->available[i].nodes);
	c->s->is_job_judged = true;
}

static void grow(void *column, size_t bytes_each, uint32_t rows, uint32_t room)
{
	char **at = column;
	*at = memory_resize(*at, room * bytes_each);
	memset(*at + rows * bytes_each, 0, (room - rows) * bytes_each);
}

static void make_room(struct candidate_columns *c)
{
	uint32_t room = c->row_room ? 2 * c->row_room : BLOCK_ROWS, rows = c->row_count;

	grow(&c->nodes, sizeof *c->nodes, rows, room);
	grow(&c->sums, sizeof *c->sums, rows, room);
	if (c->g->affinity_count)
		grow(&c->affinities, sizeof *c->affinities, rows, room);
	grow(&c->refusals, sizeof *c->refusals, rows, room);
	grow(&c->outcomes, sizeof *c->outcomes, rows, room);
	grow(&c->shown, sizeof *c->shown, rows, room);
	grow(&c->shown_outcomes, sizeof *c->shown_outcomes, rows, room);
	grow(&c->slot_of, sizeof *c->slot_of, rows, room);
	grow(&c->recorded, sizeof *c->recorded, rows, room);
	grow(&c->has_neighbours, sizeof *c->has_neighbours, rows, room);
	grow(&c->bounded, sizeof *c->bounded, rows, room);
	grow(&c->bin_of, sizeof *c->bin_of, rows, room);
	grow(&c->block_of, sizeof *c->block_of, rows, room);
	grow(&c->finder_of, sizeof *c->finder_of, rows, room);
	grow(&c->blocks, sizeof *c->blocks, c->block_count, room / BLOCK_ROWS);
	c->row_room = room;
	candidate_columns_tree_release(c);
	candidate_columns_tree_create(c, room / BLOCK_ROWS);
}

static uint32_t add_row(struct candidate_columns *c, const struct node *n, uint8_t finder)
{
	if (c->row_count == c->row_room)
		make_room(c);
	uint32_t row = c->row_count++, block = row / BLOCK_ROWS;
	if (block == c->block_count) {
		uint32_t *best = c->blocks[c->block_count++].best;
		c->blocks[block].first = row;
		for (uint32_t i = 0; i < ROW_SCORES_MAX; i++)
			best[i] = ROW_NONE;
	}
	c->blocks[block].end = row + 1;
	c->bins[0].rows = c->row_count;
	c->bins[0].blocks = c->block_count;
	c->nodes[row] = n;
	c->slot_of[row] = n->slot;
	c->block_of[row] = block;
	c->has_neighbours[row] = finder == FINDER_NONE;
	c->finder_of[row] = finder;
	slot_map_put(&c->row_of, n->slot, row + 1);
	return row;
}

// Makes a row of a node that the index has among those in question.
static uint32_t make_row(struct candidate_columns *c, const struct node *n, uint8_t finder)
{
	const struct fit_node *f = fit_index_node(c->fleet->fit, n->slot);
	const struct class_in_set *in = &c->set->classes[f->node_class];
	enum fit_shortage shortage = fit_shortage_of(f, &c->g->ask);
	uint32_t row = add_row(c, n, finder);

	CHECK(in->verdict == CLASS_TAKEN);
	// From now on the row itself says what the node is short of.
	if (shortage != FIT_SHORTAGES)
		refusal_counts_add(&c->refused, shortages[shortage],
			c->set->tallies.shorts[in->tally].class_name, STACK_EXHAUSTED, -1);
	if (c->affinities)
		c->affinities[row] = in->affinity;
	candidate_columns_enter(c, row);
	return row;
}

uint32_t candidate_columns_row_for(struct candidate_columns *c, uint32_t slot)
{
	uint32_t row = candidate_columns_row_of(c, slot);
	if (row != ROW_NONE || !c->fleet || slot >= c->slots ||
		slot >= fit_index_slots(c->fleet->fit))
		return row;
	const struct fit_node *f = fit_index_node(c->fleet->fit, slot);
	const struct node *n = c->s->view.node_at(c->s->view.context, slot);
	if (!n || !fit_is_ready(f) || c->set->classes[f->node_class].verdict != CLASS_TAKEN)
		return ROW_NONE;
	return make_row(c, n, FINDER_NONE);
}

static bool make_neighbour_row(const struct allocation *a, void *context)
{
	if (allocation_holds_room(a))
		(void)candidate_columns_row_for(context, a->node_slot);
	return true;
}

static void make_rows_of_job(struct candidate_columns *c)
{
	const struct stack *s = c->s;
	s->view.job_allocations(
		s->view.context, s->job->namespace_name, s->job->id, make_neighbour_row, c);
	for (uint32_t i = 0; i < s->proposal.touched_count; i++)
		(void)candidate_columns_row_for(c, s->proposal.touched[i].slot);
}

bool candidate_columns_open_sparse(struct candidate_columns *c)
{
	struct class_key key;

	if (!c->s->view.fleet || !classes_decide(c))
		return false;
	c->fleet = fleet_index(c->s->view.fleet, c->s->algorithm);
	class_key_make(&key, c->g);
	c->set = class_sets_take(c->fleet->sets, key.bytes, key.size, &c->g->ask, judge_class, c);
	class_key_release(&key);
	if (c->set->has_too_many_groups) {
		candidate_columns_close_sparse(c);
		return false;
	}
	c->bins = memory_take(sizeof *c->bins);
	c->bin_count = 1;
	c->finders = memory_take_array(c->set->group_count + 1, sizeof *c->finders);
	make_room(c);
	stack_forget_available(c->s);
	count_classes(c);
	make_rows_of_job(c);
	return true;
}

void candidate_columns_close_sparse(struct candidate_columns *c)
{
	if (c->set)
		class_sets_give(c->fleet->sets, c->set);
	c->set = NULL;
	c->fleet = NULL;
}

void candidate_columns_row_is_touched(struct candidate_columns *c, uint32_t row)
{
	CHECK(row < c->row_count);
	if (!c->fleet || c->finder_of[row] == FINDER_NONE)
		return;
	struct row_finder *finder = &c->finders[c->finder_of[row] - 1];
	CHECK(finder->open > 0);
	finder->open--;
	c->finder_of[row] = FINDER_NONE;
}

static bool has_no_row(void *context, uint32_t slot, const struct fit_node *unused)
{
	const struct candidate_columns *c = context;
	return candidate_columns_row_of(c, slot) == ROW_NONE && slot < c->slots &&
	       c->s->view.node_at(c->s->view.context, slot);
}

static void fetch_rows(struct candidate_columns *c, uint32_t group, uint32_t wanted)
{
	struct row_finder *finder = &c->finders[group];
	const struct class_group *classes = &c->set->groups[group];
	struct fit_candidate found[FETCHED_MOST];
	const struct fit_query query = {
		.cpu = c->g->ask.cpu_mhz,
		.memory = c->g->ask.memory_mb,
		.disk = c->g->ask.disk_mb,
		.class_bits = classes->bits,
		.classes = classes->classes,
		.first_slot = c->s->first_slot,
		.accepts = has_no_row,
		.context = c,
	};

	finder->at_once = finder->at_once * 2 > wanted ? finder->at_once * 2 : wanted;
	if (finder->at_once > FETCHED_MOST)
		finder->at_once = FETCHED_MOST;
	uint32_t count =
		fit_tree_search(fit_index_tree(c->fleet->fit), &query, finder->at_once, found);
	finder->has_all = count < finder->at_once;
	for (uint32_t i = 0; i < count; i++) {
		const struct node *n = c->s->view.node_at(c->s->view.context, found[i].slot);
		if (!n) // gone meanwhile
			continue;
		finder->open++;
		(void)make_row(c, n, (uint8_t)(group + 1));
	}
}

void candidate_columns_fetch(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(wanted <= FETCHED_MOST);
	for (uint32_t i = 0; c->fleet && i < c->set->group_count; i++)
		while (c->finders[i].open < wanted && !c->finders[i].has_all)
			fetch_rows(c, i, wanted);
}
