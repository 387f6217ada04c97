// Columns without a look at every node: what classes decide is known by class, and rows are made only of nodes that
// come into question. Those that this plan or this job touches have one each; of all others finders find the best, a
// few at a time (candidate_columns_finders.c).
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "placement/scheduler/stack/class_key.h"
#include "placement/scheduler/stack/group_looks.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/jobs/job_reevaluations.h"
#include <stdlib.h>
#include <string.h>

static void judge_values(const struct candidate_columns *c, const struct node *any,
	struct class_judgement *judgement)
{
	char id[UUID_TEXT_BYTES];
	for (uint32_t i = 0; i < c->property_count; i++) {
		if (c->are_own[i]) // no class has it
			continue;
		judgement->values[i] = property_set_value(c->properties[i], any, id);
		judgement->marks[i] = candidate_columns_mark_of(c, i, judgement->values[i]);
	}
}

static bool is_by_first(const struct candidate_columns *c)
{
	return c->g->needs.network && !c->g->needs.rules.escapes;
}

// Networks are of nodes; what the first node that is looked at says of them holds for its class.
static struct node node_of_class(
	const struct candidate_columns *c, const struct node_class *node_class, uint32_t first)
{
	bool is_spoken_for = is_by_first(c) && first != CLASS_WITHOUT_NODES;
	const struct node *speaks =
		is_spoken_for ? c->s->view.node_at(c->s->view.context, first) : NULL;
	struct node any = speaks ? *speaks : (struct node){0};

	any.node_class = (struct node_class *)node_class;
	return any;
}

static void judge_class(void *context, const struct node_class *node_class, uint32_t first,
	struct class_judgement *judgement)
{
	const struct candidate_columns *c = context;
	struct node any = node_of_class(c, node_class, first);

	if (!job_targets_node(c->s->job, &any)) {
		judgement->verdict = CLASS_UNTARGETED;
		return;
	}
	judgement->refusal = stack_check_class(c->s, c->g, &any, &judgement->by_job);
	judgement->verdict = judgement->refusal ? CLASS_REFUSED : CLASS_TAKEN;
	if (judgement->refusal)
		return;
	bool has_affinity = c->g->affinity_count && !c->g->affinity_unique;
	judgement->affinity = has_affinity ? affinity_score(c->g, &any) : 0;
	judge_values(c, &any, judgement);
}

static const char *judge_node(void *context, uint32_t slot, bool *comes_first)
{
	const struct candidate_columns *c = context;
	const struct node *n = c->s->view.node_at(c->s->view.context, slot);

	return n ? stack_check_own(c->s, c->g, n, c->name_index, comes_first) : NULL;
}

// Where a class decides, each instance moves the nodes of its values. A group of about as many instances as there are
// nodes pays less when all nodes are gathered: measured with 1,000 instances on 1,000 nodes; on 10,000 it does not.
#define NODES_AN_INSTANCE 2

static bool is_worth_finders(const struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		if (!node_property_is_node_unique(c->properties[i]->property))
			return c->evictions ||
			       (double)c->g->group->count * NODES_AN_INSTANCE <= (double)c->slots;
	return true;
}

static bool nodes_decide(const struct candidate_columns *c)
{
	return c->g->needs.volumes || c->g->needs.rules.escapes ||
	       c->s->job_rules.needs.rules.escapes;
}

// Whether a node without allocations of the job is not refused for its own value.
static bool is_limited(const struct property_set *set)
{
	return set->usable && set->limit > 0;
}

// Whether all that tells two free nodes apart is their class, their room and whether they are refused for what is their
// own, or how good they are by it, but for ports and devices that are gone: those are noticed when a node is tried.
static bool classes_decide(const struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->row_property_count; i++)
		if (!is_limited(c->row_properties[i].set))
			return false;
	return c->property_count <= CLASS_VALUES_MAX;
}

// Notes the verdict on a class as if its nodes had been looked at.
void candidate_columns_remember_class(struct candidate_columns *c, uint32_t id)
{
	if (fit_index_class_ready(c->fleet->fit, id) == 0)
		return;
	const struct class_in_set *in = &c->set->classes[class_set_number_of_class(c->set, id)];
	if (in->verdict == CLASS_UNTARGETED)
		return;
	struct remembered_class *memo =
		class_memo_of(&c->s->classes, fit_index_class(c->fleet->fit, id));
	uint8_t verdict = in->verdict == CLASS_TAKEN ? CLASS_ELIGIBLE : CLASS_INELIGIBLE;

	memo->targeted = CLASS_ELIGIBLE;
	if (!c->s->job_rules.needs.rules.escapes)
		memo->job = in->by_job ? CLASS_INELIGIBLE : CLASS_ELIGIBLE;
	if (!in->by_job && !c->g->needs.rules.escapes && in->ready > in->refused_first)
		memo->groups[c->g->number] = verdict;
}

void candidate_columns_remember_classes(struct stack *s)
{
	for (uint32_t i = 0; i < s->group_count; i++) {
		struct candidate_columns *c = s->columns[i];
		for (uint32_t id = 0; c && c->fleet && id < fit_index_classes(c->fleet->fit); id++)
			candidate_columns_remember_class(c, id);
	}
}

// Whether another node spoke for some class earlier in the attempt, and said something else of its network.
static bool is_contradicted(const struct candidate_columns *c)
{
	const struct class_memo *memo = &c->s->classes;

	for (uint32_t i = 0; i < memo->known_count && c->g->needs.network; i++) {
		uint32_t id = memo->known[i];
		if (id >= fit_index_classes(c->fleet->fit) ||
			fit_index_class_ready(c->fleet->fit, id) == 0)
			continue;
		const struct class_in_set *in =
			&c->set->classes[class_set_number_of_class(c->set, id)];
		uint8_t known = class_memo_entry(memo, id)->groups[c->g->number];
		if (in->ready > in->refused_first && !in->by_job && known != CLASS_UNKNOWN &&
			(known == CLASS_ELIGIBLE) != (in->verdict == CLASS_TAKEN))
			return true;
	}
	return false;
}

// The first node of a class that is looked at says why, the others that the class is known. Once a group of the job
// was asked for, all classes are known that the job itself refuses; in the second pass, that with victims, all are.
// Nodes that are refused for what is their own always say why.
static void count_refused(struct candidate_columns *c, const struct refused_tally *t)
{
	bool is_known = c->evictions || (t->by == REFUSED_BY_JOB && c->s->is_job_judged);
	uint32_t explained = t->by == REFUSED_ITSELF ? t->nodes : is_known ? 0 : t->classes;

	CHECK(t->nodes >= t->classes);
	if (t->nodes == 0)
		return;
	refusal_counts_add(&c->first, t->refusal, t->class_name, STACK_FILTERED, explained);
	refusal_counts_add(&c->first, reason_class_ineligible, t->class_name, STACK_FILTERED,
		t->nodes - explained);
}

void candidate_columns_count_later(struct candidate_columns *c)
{
	if (!c->fleet || c->is_later_counted)
		return;
	c->is_later_counted = true;
	for (uint32_t i = 0; i < c->set->tallies.refused_count; i++) {
		const struct refused_tally *t = &c->set->tallies.refused[i];
		bool says_why = t->by == REFUSED_ITSELF;
		refusal_counts_add(&c->later, says_why ? t->refusal : reason_class_ineligible,
			t->class_name, STACK_FILTERED, t->nodes);
	}
}

// Classes of which a single node was looked at before say no more why.
static void count_remembered(struct candidate_columns *c, uint32_t id)
{
	if (fit_index_class_ready(c->fleet->fit, id) == 0)
		return;
	const struct class_in_set *in = &c->set->classes[class_set_number_of_class(c->set, id)];
	const struct remembered_class *memo = class_memo_entry(&c->s->classes, id);
	uint8_t known = in->by_job ? memo->job : memo->groups[c->g->number];

	if (class_in_set_nodes(in) == 0 || in->verdict != CLASS_REFUSED ||
		known != CLASS_INELIGIBLE || (in->by_job && c->s->is_job_judged))
		return;
	const struct refused_tally *t = &c->set->tallies.refused[in->tally];
	refusal_counts_add(&c->first, t->refusal, t->class_name, STACK_FILTERED, -1);
	refusal_counts_add(&c->first, reason_class_ineligible, t->class_name, STACK_FILTERED, 1);
}

static void count_short(struct candidate_columns *c, const struct short_tally *t)
{
	for (uint32_t i = 0; i < FIT_SHORTAGES; i++)
		refusal_counts_add(&c->refused, shortage_reasons[i], t->class_name, STACK_EXHAUSTED,
			t->nodes[i]);
}

static void count_bounded(struct candidate_columns *c, uint32_t tally)
{
	const char *class_name = c->set->tallies.shorts[tally].class_name;
	for (uint32_t i = 0; i < c->bounds->reason_count; i++)
		refusal_counts_add(&c->refused, c->bound_reasons[i], class_name, STACK_EXHAUSTED,
			c->bounds->refused[tally][i]);
}

static void count_rated(struct candidate_columns *c, const struct short_tally *t,
	const uint32_t nodes[NODE_SHORTAGES])
{
	for (uint32_t i = 0; i < NODE_SHORTAGES; i++)
		if (nodes[i] > 0)
			refusal_counts_add(&c->refused, shortage_reasons[i], t->class_name,
				STACK_EXHAUSTED, nodes[i]);
}

static void count_tallies(struct candidate_columns *c)
{
	const struct class_tallies *t = &c->set->tallies;
	const struct class_memo *memo = &c->s->classes;

	c->candidates = t->candidates;
	for (uint32_t i = 0; i < t->refused_count; i++)
		count_refused(c, &t->refused[i]);
	for (uint32_t i = 0; i < memo->known_count && !c->evictions; i++)
		if (memo->known[i] < fit_index_classes(c->fleet->fit))
			count_remembered(c, memo->known[i]);
	for (uint32_t i = 0; i < t->short_count; i++)
		if (c->bounds)
			count_bounded(c, i);
		else if (c->ratings)
			count_rated(c, &t->shorts[i], c->ratings->of_tally[i]);
		else
			count_short(c, &t->shorts[i]);
	for (uint32_t i = 0; i < t->available_count; i++)
		stack_note_available(c->s, t->available[i].datacenter, t->available[i].nodes);
	c->s->is_job_judged = true;
}

static void make_rows_of_job(struct candidate_columns *c)
{
	const struct proposal *p = &c->s->proposal;
	const struct neighbour_counts *near = c->s->near[c->g->number];
	for (uint32_t i = 0; i < near->count; i++)
		(void)candidate_columns_row_for(c, near->items[i].slot);
	for (uint32_t i = 0; i < p->touched_count; i++)
		(void)candidate_columns_row_for(c, p->touched[i].slot);
}

// Nodes that have their say, too, have it class by class, unless it is only about the modes of networks.
static bool classes_say_it_all(const struct candidate_columns *c)
{
	return (!is_by_first(c) || group_looks_at_networks(c->g)) && !nodes_decide(c);
}

static bool speaks_for_kinds(const struct candidate_columns *c)
{
	return is_by_first(c) && classes_say_it_all(c);
}

static void say_of_networks(void *context, uint32_t slot, struct look_bytes *seen)
{
	const struct candidate_columns *c = context;
	const struct node *n = c->s->view.node_at(c->s->view.context, slot);
	const struct node_fittings *fittings = n ? node_fittings(n) : &node_no_fittings;

	for (uint32_t i = 0; i < fittings->network_count; i++)
		look_bytes_add(seen, fittings->networks[i].mode);
}

static struct look_bytes looks_at_classes(void *context)
{
	const struct candidate_columns *c = context;
	return group_looks(c->g);
}

static void take_set(struct candidate_columns *c, const struct victims *victims)
{
	struct class_key key;
	const struct class_ask ask = {
		.room = c->g->ask,
		.values = c->property_count,
		.rates_nodes = victims != NULL,
		.by_first = is_by_first(c) && !classes_say_it_all(c),
		.by_node = nodes_decide(c) ? judge_node : NULL,
		.looks = classes_say_it_all(c) ? looks_at_classes : NULL,
		.speech = speaks_for_kinds(c) ? say_of_networks : NULL,
	};

	class_key_make(&key, c->g, &c->s->job_rules, c->name_index);
	if (victims)
		class_key_add_victims(&key, c->g, victims_priority(victims));
	c->set = class_sets_take(
		c->fleet->sets, class_key_bytes(&key), key.size, &ask, judge_class, c);
	class_key_release(&key);
}

// Each of many groups may take a search, and with victims trees of its own. Where each has but few nodes, a look at all
// takes less: measured with 91 groups of 37 nodes, of which a look took 0.4 ms, and an evaluation 1 to 3.
#define NODES_A_GROUP 128u

static bool are_groups_worth_it(const struct candidate_columns *c)
{
	uint32_t groups = c->set->group_count;
	bool are_few = groups <= CLASS_GROUPS_FEW;

	return !c->set->has_too_many_groups &&
	       (are_few || (!c->evictions && groups * NODES_A_GROUP <= c->slots));
}

static bool open_set(struct candidate_columns *c)
{
	c->fleet = fleet_index(c->s->view.fleet, c->s->algorithm);
	candidate_columns_open_own(c);
	struct victims *victims = c->evictions ? candidate_columns_evictable(c) : NULL;
	take_set(c, victims);
	return are_groups_worth_it(c) && !c->set->own.has_too_many_reasons && !is_contradicted(c) &&
	       (!victims || candidate_columns_open_bounds(c, victims));
}

bool candidate_columns_open_sparse(struct candidate_columns *c)
{
	if (!c->s->view.fleet || !classes_decide(c) || !is_worth_finders(c))
		return false;
	if (!open_set(c)) {
		candidate_columns_close_sparse(c);
		return false;
	}
	if (candidate_columns_are_rated(c))
		candidate_columns_open_ratings(c);
	candidate_columns_begin_rows(c);
	stack_forget_available(c->s);
	count_tallies(c);
	candidate_columns_open_finders(c);
	make_rows_of_job(c);
	candidate_columns_make_own_rows(c);
	return true;
}

void candidate_columns_make_full_rows(struct candidate_columns *c)
{
	for (uint32_t slot = 0; c->fleet && slot < fit_index_slots(c->fleet->fit); slot++) {
		const struct fit_node *f = fit_index_node(c->fleet->fit, slot);
		if (fit_is_ready(f) && class_set_of(c->set, slot, f)->verdict == CLASS_TAKEN &&
			class_set_passes(c->set, slot) &&
			candidate_columns_shortage(c, slot) != NODE_SHORTAGES)
			(void)candidate_columns_row_for(c, slot);
	}
}

void candidate_columns_close_sparse(struct candidate_columns *c)
{
	candidate_columns_release_finders(c);
	candidate_columns_close_own(c);
	candidate_columns_close_bounds(c);
	if (c->set)
		class_sets_give(c->fleet->sets, c->set);
	c->set = NULL;
	c->ratings = NULL;
	c->fleet = NULL;
}
