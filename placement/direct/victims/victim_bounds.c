#include "placement/direct/victims/victim_bounds.h"
#include "placement/direct/placement.h"
#include "placement/direct/victims/victim_score.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

struct victim_look_kept {
	double sum, victims;
	uint8_t scores; // 0: nobody looked
	uint8_t outcome, tier;
};

static void release(void *attached)
{
	struct victim_bounds *b = attached;

	score_trees_release(&b->trees);
	for (uint32_t i = FIT_SHORTAGES; i < b->reason_count; i++)
		free(b->reasons[i]);
	free(b->outcomes);
	free(b->classes);
	free(b->affinities);
	free(b->refused);
	free(b->refused_of_class);
	free(b->looks);
	free(b);
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
	uint32_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static bool is_over(uint64_t used, uint64_t ask, uint64_t capacity)
{
	return used + ask > capacity;
}

static enum fit_shortage shortage_of(const struct victims_of_node *n, const struct resources *ask)
{
	return is_over(n->used.cpu_mhz, ask->cpu_mhz, n->capacity.cpu_mhz)         ? SHORT_OF_CPU
	       : is_over(n->used.memory_mb, ask->memory_mb, n->capacity.memory_mb) ? SHORT_OF_MEMORY
	       : is_over(n->used.disk_mb, ask->disk_mb, n->capacity.disk_mb)       ? SHORT_OF_DISK
										   : FIT_SHORTAGES;
}

static bool suffice(const struct victims_of_node *n, const struct resources *ask)
{
	return n->count > 0 &&
	       !is_over(n->used.cpu_mhz, ask->cpu_mhz, n->capacity.cpu_mhz + n->held.cpu_mhz) &&
	       !is_over(n->used.memory_mb, ask->memory_mb,
		       n->capacity.memory_mb + n->held.memory_mb) &&
	       !is_over(n->used.disk_mb, ask->disk_mb, n->capacity.disk_mb + n->held.disk_mb);
}

// How many of the biggest it takes.
static int64_t fewest_for(uint32_t capacity, uint32_t used, uint32_t ask, uint32_t most)
{
	int64_t missing = (int64_t)used + ask - capacity, each = most > 1 ? most : 1;
	return missing > 0 ? (missing + each - 1) / each : 1;
}

static int64_t fewest_victims(const struct victims_of_node *n, const struct resources *ask)
{
	int64_t fewest[] = {
		fewest_for(n->capacity.cpu_mhz, n->used.cpu_mhz, ask->cpu_mhz, n->most.cpu_mhz),
		fewest_for(n->capacity.memory_mb, n->used.memory_mb, ask->memory_mb,
			n->most.memory_mb),
		fewest_for(n->capacity.disk_mb, n->used.disk_mb, ask->disk_mb, n->most.disk_mb)};
	int64_t greatest = fewest[0] > fewest[1] ? fewest[0] : fewest[1];
	return greatest > fewest[2] ? greatest : fewest[2];
}

struct asking {
	struct victim_bounds *b;
	const struct class_set *set;
	const struct fit_index *index;
	const struct victim_ask *ask;
};

// Room alone.
static struct victim_look_kept count_victims(const struct asking *of, uint32_t slot)
{
	const struct resources *ask = &of->set->ask.room;
	const struct victims_of_node *n = victims_at(of->b->victims, slot);
	enum fit_shortage shortage = shortage_of(n, ask);
	struct resources used = {sum_of(n->used.cpu_mhz, ask->cpu_mhz),
		sum_of(n->used.memory_mb, ask->memory_mb), sum_of(n->used.disk_mb, ask->disk_mb)};
	struct victim_look_kept look = {.scores = 1, .outcome = VICTIMS_SUFFICE};

	if (shortage != FIT_SHORTAGES && !suffice(n, ask)) {
		look.outcome = (uint8_t)(VICTIMS_REFUSED + shortage);
		return look;
	}
	look.sum = placement_score(fit_index_algorithm(of->index), n->capacity, used);
	if (shortage != FIT_SHORTAGES)
		look.victims = victim_score_most(n->least, fewest_victims(n, ask));
	return look;
}

static uint8_t outcome_of(struct victim_bounds *b, const char *refusal)
{
	uint32_t reason = FIT_SHORTAGES;

	if (!refusal)
		return VICTIMS_SUFFICE;
	while (reason < b->reason_count && strcmp(b->reasons[reason], refusal) != 0)
		reason++;
	if (reason == VICTIM_REASONS_MAX) {
		b->has_too_many_reasons = true;
		return VICTIMS_NOT_ASKED;
	}
	if (reason == b->reason_count)
		b->reasons[b->reason_count++] = text_copy(text_of(refusal));
	return (uint8_t)(VICTIMS_REFUSED + reason);
}

static const struct victim_look_kept *look_at_node(const struct asking *of, uint32_t slot)
{
	struct victim_look_kept *kept = &of->b->looks[slot];
	struct victim_look look = {0};

	CHECK(slot < of->b->look_count);
	if (kept->scores > 0)
		return kept;
	if (!of->ask->look(of->ask->look_context, slot, &look)) {
		kept->outcome = VICTIMS_NOT_ASKED; // whoever comes there is looked at
		return kept;
	}
	*kept = (struct victim_look_kept){look.sum, look.victims,
		(uint8_t)(look.refusal ? 1 : look.scores), outcome_of(of->b, look.refusal),
		look.tier};
	CHECK(kept->scores > 0);
	return kept;
}

static bool is_asked(const struct asking *of, uint32_t slot)
{
	const struct fit_node *f = fit_index_node(of->index, slot);

	return fit_is_ready(f) && slot < victims_slots(of->b->victims) &&
	       class_set_passes(of->set, slot) &&
	       class_set_of(of->set, slot, f)->verdict == CLASS_TAKEN;
}

uint32_t victim_bounds_reason(const struct victim_bounds *b, uint32_t slot)
{
	CHECK(slot < b->trees.counts[0]);
	return b->outcomes[slot] < VICTIMS_REFUSED
		       ? VICTIM_REASON_NONE
		       : (uint32_t)(b->outcomes[slot] - VICTIMS_REFUSED);
}

static void count_slot(const struct asking *of, uint32_t slot, uint32_t by)
{
	struct victim_bounds *b = of->b;
	uint32_t reason = victim_bounds_reason(b, slot);

	if (reason == VICTIM_REASON_NONE)
		return;
	uint32_t id = b->classes[slot];
	b->refused[of->set->classes[id].tally][reason] += by;
	if (b->refused_of_class)
		b->refused_of_class[id][reason] += by;
}

// The scores are added in the order in which those of a row are, so that a bound that is exact is so to the last bit.
static void put_scores(const struct asking *of, uint32_t slot, const struct victim_look_kept *look)
{
	const struct class_in_set *in = &of->set->classes[of->b->classes[slot]];
	double affinity = of->b->affinities ? of->b->affinities[slot] : in->affinity;
	double sum = affinity != 0 ? look->sum + affinity : look->sum;
	const struct score_tree where = {.group = in->group,
		.scores = (uint8_t)(look->scores + (affinity != 0) + (look->victims != 0)),
		.tier = look->tier};

	score_trees_put(&of->b->trees, slot, &where, (struct tree_scores){sum, look->victims});
}

static void judge_slot(const struct asking *of, uint32_t slot)
{
	struct victim_bounds *b = of->b;
	struct victim_look_kept look = {.outcome = VICTIMS_NOT_ASKED};

	if (of->ask->affinity && fit_index_described(of->index, slot) > b->described)
		b->affinities[slot] = of->ask->affinity(of->ask->affinity_context, slot);
	if (is_asked(of, slot)) {
		look = of->ask->look ? *look_at_node(of, slot) : count_victims(of, slot);
		b->classes[slot] = class_set_number(of->set, slot, fit_index_node(of->index, slot));
	}
	b->outcomes[slot] = look.outcome;
	count_slot(of, slot, 1);
	if (look.outcome == VICTIMS_SUFFICE)
		put_scores(of, slot, &look);
	else
		score_trees_put(&b->trees, slot, NULL, (struct tree_scores){0, 0});
}

static void make_room_for_looks(struct victim_bounds *b, uint32_t slots)
{
	if (slots <= b->look_count)
		return;
	b->looks = memory_resize(b->looks, slots * sizeof b->looks[0]);
	memset(b->looks + b->look_count, 0, (slots - b->look_count) * sizeof b->looks[0]);
	b->look_count = slots;
}

static void forget_look(const struct asking *of, uint32_t slot)
{
	if (of->ask->look && slot < of->b->look_count)
		of->b->looks[slot].scores = 0;
}

static void begin_counts(const struct asking *of)
{
	struct victim_bounds *b = of->b;

	free(b->refused);
	free(b->refused_of_class);
	b->refused = memory_take_array(of->set->tallies.short_count + 1, sizeof b->refused[0]);
	b->refused_of_class = of->set->ask.values > 0 ? memory_take_array(of->set->class_count + 1,
								sizeof b->refused_of_class[0])
						      : NULL;
}

static void judge_all(const struct asking *of)
{
	struct victim_bounds *b = of->b;
	uint32_t slots = fit_index_slots(of->index);

	score_trees_begin(&b->trees, slots);
	b->outcomes = memory_resize(b->outcomes, slots + 1);
	b->classes = memory_resize(b->classes, (slots + 1) * sizeof b->classes[0]);
	if (of->ask->affinity)
		b->affinities = memory_resize(b->affinities, (slots + 1) * sizeof b->affinities[0]);
	begin_counts(of);
	if (of->ask->look)
		make_room_for_looks(b, slots);
	for (uint32_t slot = 0; slot < slots; slot++)
		judge_slot(of, slot);
}

static void judge_again(const struct asking *of, uint32_t slot)
{
	count_slot(of, slot, -1u);
	judge_slot(of, slot);
}

// What was read anew is looked at anew. Slots that the index does not have yet come with it.
static void follow_victims(const struct asking *of, const struct victims *v)
{
	struct victim_bounds *b = of->b;
	bool is_lost = b->victims != v || victims_head(v) - b->seen > VICTIMS_LOG;

	for (uint32_t slot = 0; is_lost && slot < b->look_count; slot++)
		forget_look(of, slot);
	for (uint64_t i = b->seen; !is_lost && i < victims_head(v); i++)
		forget_look(of, victims_reading(v, i));
}

static bool is_to_begin_anew(const struct asking *of, const struct victims *v)
{
	const struct victim_bounds *b = of->b;

	return b->victims != v || b->judged != of->set->judged ||
	       b->trees.counts[0] != fit_index_slots(of->index) ||
	       victims_head(v) - b->seen > VICTIMS_LOG;
}

static struct victim_bounds *bounds_with(struct class_set *s)
{
	if (!s->attached) {
		struct victim_bounds *b = s->attached = memory_take(sizeof *b);
		b->reason_count = FIT_SHORTAGES;
		s->release_attached = release;
	}
	return s->attached;
}

struct victim_bounds *victim_bounds_of(struct class_set *s, const struct fit_index *x,
	struct victims *v, const struct victim_ask *ask)
{
	struct victim_bounds *b = bounds_with(s);
	struct asking of = {b, s, x, ask};

	CHECK(!s->has_too_many_groups);
	follow_victims(&of, v);
	if (is_to_begin_anew(&of, v)) {
		b->victims = v;
		judge_all(&of);
	} else {
		for (uint64_t i = b->seen; i < victims_head(v); i++)
			if (victims_reading(v, i) < b->trees.counts[0])
				judge_again(&of, victims_reading(v, i));
	}
	b->judged = s->judged;
	b->seen = victims_head(v);
	b->described = fit_index_head(x);
	return b;
}
