#include "placement/direct/candidate_cache.h"
#include "placement/direct/refusal.h"
#include "placement/direct/shortlist.h"
#include "placement/direct/verdicts.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

// A list of nodes that pass is gone through again rather than following more changes than this.
#define MEMBERS_CHANGES_MAX 48u
#define SHORTLIST_FIRST 4u
// A list of at most this many nodes is scanned; the tree is searched only for longer ones.
#define MEMBERS_MAX 2048u

// The best nodes of one kind, as far as they are known.
struct ranking {
	struct candidate_cache *of;
	bool is_idle;         // idle nodes only
	const char *snapshot; // of them, those that ran it last; NULL: any
	struct fit_query query;
	struct shortlist list;
	bool known;
	uint32_t wanted; // nodes to ask of the next search
};

struct candidate_cache {
	struct fit_index *index;
	struct candidate_source source;
	struct verdicts asked;
	const struct device_needs *devices; // of the group

	// By class.
	uint8_t *verdicts;
	uint8_t *matches;  // and by device need
	uint64_t *classes; // bit map of classes that pass
	uint32_t class_count, class_room;
	uint64_t class_epoch;

	// By node; only when constraints test what is unique to a node.
	bool node_unique, node_verdicts_known;
	uint8_t *node_verdicts;
	uint32_t node_room;
	uint32_t *members; // nodes that pass, if they are few
	uint32_t member_count;
	bool members_listed;

	// Asked in this order. A group that names a snapshot has four: idle nodes that ran it, idle nodes that ran
	// none, all idle nodes, all nodes (row E32); other groups have the last only.
	struct ranking *rankings;
	uint32_t ranking_count;
	uint64_t seen; // number of index changes taken in so far

	uint32_t feasible;
	bool feasible_known;
	uint64_t ready_epoch;

	uint32_t counts[CATEGORIES];
	bool counts_known;
	uint32_t scans;
};

static uint8_t *matches_of(const struct candidate_cache *p, uint32_t node_class)
{
	return &p->matches[(size_t)node_class * p->devices->count];
}

static bool accepts(void *context, uint32_t slot, const struct fit_node *n)
{
	const struct candidate_cache *p = context;
	if (p->node_unique && p->node_verdicts[slot] != VERDICT_PASS)
		return false;
	return refusal_devices_suffice(&p->asked, n, matches_of(p, n->node_class));
}

static uint8_t category_of(const struct candidate_cache *, uint32_t slot, const struct fit_node *);

// In the tree of idle nodes by snapshot, a node's class is not its node class: the index holds that.
static bool accepts_idle(void *context, uint32_t slot, const struct fit_node *unused)
{
	const struct ranking *r = context;
	const struct candidate_cache *p = r->of;
	const struct fit_node *n = fit_index_node(p->index, slot);
	return fit_index_snapshot(p->index, slot) == r->snapshot &&
	       category_of(p, slot, n) == CATEGORY_FITS;
}

static void make_ranking(struct candidate_cache *p, uint32_t i)
{
	struct ranking *r = &p->rankings[i];
	*r = (struct ranking){.of = p,
		.query = {.cpu = p->asked.room.cpu_mhz,
			.memory = p->asked.room.memory_mb,
			.disk = p->asked.room.disk_mb,
			.context = p},
		.list = {.algorithm = fit_index_algorithm(p->index), .query = &r->query},
		.wanted = SHORTLIST_FIRST};
	for (uint32_t d = 0; d < p->devices->count; d++)
		if (p->devices->items[d].ask->count > (int64_t)r->query.devices)
			r->query.devices = (uint32_t)p->devices->items[d].ask->count;
	if (p->node_unique || p->devices->count > 0)
		r->query.accepts = accepts;
}

static void make_snapshot_ranking(struct candidate_cache *p, uint32_t i, const char *snapshot)
{
	struct ranking *r = &p->rankings[i];
	make_ranking(p, i);
	r->is_idle = true;
	r->snapshot = fit_index_snapshot_share(p->index, snapshot);
	r->query.class_bits = 1ull << fit_index_snapshot_class(r->snapshot);
	r->query.accepts = accepts_idle;
	r->query.context = r;
}

static void make_rankings(struct candidate_cache *p, const char *snapshot)
{
	p->ranking_count = snapshot && snapshot[0] ? 4 : 1;
	p->rankings = memory_take_array(p->ranking_count, sizeof *p->rankings);
	make_ranking(p, p->ranking_count - 1);
	if (p->ranking_count == 1)
		return;
	make_snapshot_ranking(p, 0, snapshot);
	make_snapshot_ranking(p, 1, "");
	make_ranking(p, 2);
	p->rankings[2].is_idle = true;
}

// Whether the node is of the ranking's kind.
static bool ranking_includes(const struct ranking *r, uint32_t slot)
{
	if (!r->is_idle)
		return true;
	const char *last = fit_index_snapshot(r->of->index, slot);
	return last && (!r->snapshot || last == r->snapshot);
}

struct candidate_cache *candidate_cache_create(struct fit_index *index,
	const struct candidate_source *source, const struct job *job, uint32_t group)
{
	struct candidate_cache *p = memory_take(sizeof *p);
	p->index = index;
	p->source = *source;
	verdicts_begin(&p->asked, job, group);
	p->devices = &p->asked.of_group.devices;
	p->node_unique = verdicts_are_of_nodes(&p->asked);
	p->members = p->node_unique ? memory_take_array(MEMBERS_MAX, sizeof *p->members) : NULL;
	make_rankings(p, ARRAY_AT(&job->task_groups, struct task_group, group)->snapshot);
	return p;
}

void candidate_cache_destroy(struct candidate_cache *p)
{
	if (!p)
		return;
	verdicts_release(&p->asked);
	for (uint32_t i = 0; i < p->ranking_count; i++)
		fit_index_snapshot_release(p->index, p->rankings[i].snapshot);
	free(p->rankings);
	free(p->verdicts);
	free(p->matches);
	free(p->classes);
	free(p->node_verdicts);
	free(p->members);
	free(p);
}

// Forgets whatever depends on verdicts.
static void forget_candidates(struct candidate_cache *p)
{
	for (uint32_t i = 0; i < p->ranking_count; i++)
		p->rankings[i].known = false;
	p->feasible_known = p->counts_known = p->node_verdicts_known = false;
}

static void make_class_room(struct candidate_cache *p, uint32_t count)
{
	if (count > p->class_room) {
		uint32_t room = (2 * count + 63) / 64 * 64;
		size_t needs = p->devices->count;
		p->verdicts = memory_resize(p->verdicts, room);
		p->matches = memory_resize(p->matches, room * needs + 1);
		p->classes = memory_resize(p->classes, room / 8);
		memset(p->verdicts + p->class_room, VERDICT_UNKNOWN, room - p->class_room);
		memset(p->matches + p->class_room * needs, 0, (room - p->class_room) * needs);
		memset(p->classes + p->class_room / 64, 0, (room - p->class_room) / 8);
		p->class_room = room;
	}
	p->class_count = count;
}

static void judge_class(struct candidate_cache *p, uint32_t id)
{
	uint8_t matches[DEVICE_NEEDS_MAX] = {0};
	const struct node_class *c = p->source.class_at(p->source.context, id);
	uint8_t verdict = c ? verdict_of_class(&p->asked, c) : VERDICT_UNKNOWN;
	if (verdict == VERDICT_PASS)
		device_needs_match(p->devices, c, matches);
	if (p->verdicts[id] == verdict &&
		memcmp(matches, matches_of(p, id), p->devices->count) == 0)
		return;
	// The number meant another class before: whatever was derived from that is void.
	if (p->verdicts[id] != VERDICT_UNKNOWN)
		forget_candidates(p);
	p->verdicts[id] = verdict;
	memcpy(matches_of(p, id), matches, p->devices->count);
	// Constraints on single nodes are tested later: here the class must let its nodes pass.
	uint64_t bit = 1ull << (id % 64);
	if (verdict == VERDICT_PASS)
		p->classes[id / 64] |= bit;
	else
		p->classes[id / 64] &= ~bit;
}

static void summarise_classes(struct candidate_cache *p)
{
	uint64_t bits = 0;
	bool all = true;
	for (uint32_t i = 0; i < p->class_count; i++)
		if (p->verdicts[i] == VERDICT_PASS)
			bits |= 1ull << (i % 64);
		else
			all = false;
	for (uint32_t i = 0; i < p->ranking_count; i++) {
		if (p->rankings[i].snapshot)
			continue;
		p->rankings[i].query.class_bits = bits;
		p->rankings[i].query.classes = all ? NULL : p->classes;
	}
}

static void catch_up_classes(struct candidate_cache *p)
{
	uint64_t epoch = fit_index_class_epoch(p->index);
	if (p->class_epoch == epoch)
		return;
	make_class_room(p, fit_index_classes(p->index));
	for (uint32_t i = 0; i < p->class_count; i++)
		if (fit_index_class_since(p->index, i) > p->class_epoch)
			judge_class(p, i);
	p->class_epoch = epoch;
	summarise_classes(p);
}

static uint8_t judge_node(struct candidate_cache *p, uint32_t slot)
{
	const struct fit_node *n = fit_index_node(p->index, slot);
	const struct node *record = p->source.node_at(p->source.context, slot);
	if (n->place == FIT_ABSENT || !record)
		return VERDICT_UNKNOWN;
	return verdict_of_node(&p->asked, record, p->verdicts[n->node_class]);
}

static void member_add(struct candidate_cache *p, uint32_t slot)
{
	if (!p->members_listed)
		return;
	p->members_listed = p->member_count < MEMBERS_MAX;
	if (p->members_listed)
		p->members[p->member_count++] = slot;
}

static void member_drop(struct candidate_cache *p, uint32_t slot)
{
	for (uint32_t i = 0; p->members_listed && i < p->member_count; i++)
		if (p->members[i] == slot) {
			p->members[i] = p->members[--p->member_count];
			return;
		}
}

static void make_node_room(struct candidate_cache *p)
{
	uint32_t slots = fit_index_slots(p->index);
	if (slots <= p->node_room)
		return;
	uint32_t room = slots + slots / 4;
	p->node_verdicts = memory_resize(p->node_verdicts, room);
	memset(p->node_verdicts + p->node_room, VERDICT_UNKNOWN, room - p->node_room);
	p->node_room = room;
}

static void judge_all_nodes(struct candidate_cache *p)
{
	p->scans++;
	p->feasible = p->member_count = 0;
	p->members_listed = true;
	for (uint32_t slot = 0; slot < fit_index_slots(p->index); slot++) {
		p->node_verdicts[slot] = judge_node(p, slot);
		if (p->node_verdicts[slot] != VERDICT_PASS)
			continue;
		member_add(p, slot);
		p->feasible += fit_is_ready(fit_index_node(p->index, slot));
	}
	p->node_verdicts_known = true;
}

static uint8_t verdict_of(const struct candidate_cache *p, uint32_t slot, const struct fit_node *n)
{
	if (p->node_unique)
		return p->node_verdicts[slot];
	return n->node_class < p->class_count ? p->verdicts[n->node_class] : VERDICT_UNKNOWN;
}

static uint8_t category_of(const struct candidate_cache *p, uint32_t slot, const struct fit_node *n)
{
	const uint8_t *matches =
		n->node_class < p->class_count ? matches_of(p, n->node_class) : NULL;
	return refusal_category(&p->asked, n, verdict_of(p, slot, n), matches);
}

// Moves a changed node to its place in a ranking.
static void reconsider(struct candidate_cache *p, struct ranking *r, uint32_t slot)
{
	shortlist_drop(&r->list, slot);
	const struct fit_node *n = fit_index_node(p->index, slot);
	if (!ranking_includes(r, slot))
		return;
	if (!fit_is_placeable(n) || category_of(p, slot, n) != CATEGORY_FITS)
		return;
	if (!r->list.complete &&
		fit_costs_more(r->list.algorithm, n, &r->query, r->list.horizon.cost))
		return;
	shortlist_offer(&r->list, fit_candidate_of(r->list.algorithm, n, slot, &r->query));
}

static void count_change(struct candidate_cache *p, const struct fit_change *c, bool leaves)
{
	const struct fit_node *n = leaves ? &c->before : &c->after;
	uint32_t by = leaves ? -1u : 1u;
	if (p->counts_known)
		p->counts[category_of(p, c->slot, n)] += by;
	if (p->node_unique && fit_is_ready(n) && p->node_verdicts[c->slot] == VERDICT_PASS)
		p->feasible += by;
}

// Verdicts describe the present node, while later changes of the same node may follow in the log. That is sound: what
// one change counts in, the next counts out by the same verdict.
static void take_change(struct candidate_cache *p, const struct fit_change *c)
{
	count_change(p, c, true);
	if (p->node_unique && c->described_anew) {
		uint8_t before = p->node_verdicts[c->slot], now = judge_node(p, c->slot);
		p->node_verdicts[c->slot] = now;
		if (before == VERDICT_PASS && now != VERDICT_PASS)
			member_drop(p, c->slot);
		else if (before != VERDICT_PASS && now == VERDICT_PASS)
			member_add(p, c->slot);
	}
	count_change(p, c, false);
	for (uint32_t i = 0; i < p->ranking_count; i++)
		if (p->rankings[i].known)
			reconsider(p, &p->rankings[i], c->slot);
}

static struct fit_tree *tree_of(struct candidate_cache *p, const struct ranking *r)
{
	if (!r->is_idle)
		return fit_index_tree(p->index);
	return fit_index_idle_tree(
		p->index, r->snapshot ? FIT_IDLE_BY_SNAPSHOT : FIT_IDLE_BY_CLASS);
}

static uint32_t changes_max(struct candidate_cache *p, const struct ranking *r)
{
	bool is_listed = p->node_unique && p->members_listed;
	return is_listed ? MEMBERS_CHANGES_MAX : fit_tree_search_changes(tree_of(p, r));
}

// Gives up rankings when a new search costs less than this many changes. Returns whether any ranking is still known.
static bool give_up_rankings(struct candidate_cache *p, uint64_t changes)
{
	bool any = false;
	for (uint32_t i = 0; i < p->ranking_count; i++) {
		struct ranking *r = &p->rankings[i];
		if (r->known && changes > changes_max(p, r)) {
			r->known = false;
			r->wanted = r->wanted > 1 ? r->wanted / 2 : 1;
		}
		any |= r->known;
	}
	return any;
}

static void catch_up(struct candidate_cache *p)
{
	catch_up_classes(p);
	uint64_t head = fit_index_head(p->index), behind = head - p->seen;
	if (p->node_unique)
		make_node_room(p);
	if (behind > FIT_LOG_CHANGES)
		forget_candidates(p);
	if (p->node_unique && !p->node_verdicts_known) {
		forget_candidates(p);
		judge_all_nodes(p);
		p->seen = head;
		return;
	}
	if (give_up_rankings(p, behind) || p->counts_known || p->node_unique)
		for (uint64_t i = p->seen; i < head; i++)
			take_change(p, fit_index_change(p->index, i));
	p->seen = head;
}

static void go_through_members(struct candidate_cache *p, struct ranking *r)
{
	r->list.complete = true;
	r->list.count = 0;
	for (uint32_t i = 0; i < p->member_count; i++)
		reconsider(p, r, p->members[i]);
}

static void refill(struct candidate_cache *p, struct ranking *r)
{
	if (r->known && r->wanted < SHORTLIST_MAX)
		r->wanted *= 2; // the list ran dry: the job places a lot
	if (p->node_unique && p->members_listed) {
		go_through_members(p, r);
	} else {
		r->list.count = fit_tree_search(tree_of(p, r), &r->query, r->wanted, r->list.at);
		shortlist_fill(&r->list, r->wanted);
	}
	r->known = true;
}

bool candidate_cache_best(struct candidate_cache *p, struct fit_candidate *best)
{
	catch_up(p);
	for (uint32_t i = 0; i < p->ranking_count; i++) {
		struct ranking *r = &p->rankings[i];
		if (!r->known || (r->list.count == 0 && !r->list.complete))
			refill(p, r);
		if (r->list.count == 0)
			continue;
		fit_candidate_score(r->list.algorithm, &r->query, &r->list.at[0]);
		*best = r->list.at[0];
		return true;
	}
	return false;
}

uint32_t candidate_cache_feasible(struct candidate_cache *p)
{
	catch_up(p);
	uint64_t epoch = fit_index_ready_epoch(p->index);
	if (p->node_unique || (p->feasible_known && p->ready_epoch == epoch))
		return p->feasible;
	p->feasible = 0;
	for (uint32_t i = 0; i < p->class_count; i++)
		if (p->verdicts[i] == VERDICT_PASS)
			p->feasible += fit_index_class_ready(p->index, i);
	p->feasible_known = true;
	p->ready_epoch = epoch;
	return p->feasible;
}

static void count_all(struct candidate_cache *p)
{
	p->scans++;
	memset(p->counts, 0, sizeof p->counts);
	for (uint32_t slot = 0; slot < fit_index_slots(p->index); slot++)
		p->counts[category_of(p, slot, fit_index_node(p->index, slot))]++;
	p->counts_known = true;
}

void candidate_cache_refusal(struct candidate_cache *p, struct place_refusal *refusal)
{
	catch_up(p);
	if (!p->counts_known)
		count_all(p);
	refusal_fill(p->counts, verdicts_constraints(&p->asked), refusal);
}

bool candidate_cache_devices(const struct candidate_cache *p, uint32_t slot,
	const struct device_set *free, struct device_set *chosen)
{
	struct device_choice choice;
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	uint32_t node_class = fit_index_node(p->index, slot)->node_class;
	CHECK(node_class < p->class_count);
	device_counts(free, counts);
	if (!device_needs_choose(p->devices, NULL, matches_of(p, node_class), counts, &choice))
		return false;
	device_choice_take(p->devices, &choice, free, chosen);
	return true;
}

uint32_t candidate_cache_take_scans(struct candidate_cache *p)
{
	uint32_t scans = p->scans;
	p->scans = 0;
	return scans;
}
