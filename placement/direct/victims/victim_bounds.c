#include "placement/direct/victims/victim_bounds.h"
#include "placement/direct/placement.h"
#include "placement/direct/victims/victim_score.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

static void release(void *attached)
{
	struct victim_bounds *b = attached;

	bounds_tree_release(&b->tree);
	free(b->outcomes);
	free(b->tallies);
	free(b->shorts);
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

// The scores are added in the order in which those of a row are, so that a bound that is exact is so to the last bit.
static double bound_of(enum placement_algorithm algorithm, const struct victims_of_node *n,
	const struct resources *ask, double affinity, bool evicts)
{
	struct resources used = {sum_of(n->used.cpu_mhz, ask->cpu_mhz),
		sum_of(n->used.memory_mb, ask->memory_mb), sum_of(n->used.disk_mb, ask->disk_mb)};
	double sum = placement_score(algorithm, n->capacity, used);
	uint32_t scores = 1;

	if (affinity != 0) {
		sum += affinity;
		scores++;
	}
	if (evicts) {
		sum += victim_score_most(n->least, fewest_victims(n, ask));
		scores++;
	}
	return sum / scores;
}

struct verdict {
	uint8_t outcome;
	uint32_t tally;
	double bound;
};

static struct verdict judge_slot(const struct class_set *s, const struct fit_index *x,
	const struct victims *v, uint32_t slot)
{
	struct verdict none = {VICTIMS_NOT_ASKED, 0, BOUND_NONE};
	const struct fit_node *f = fit_index_node(x, slot);

	if (!fit_is_ready(f) || slot >= victims_slots(v) || !class_set_passes(s, slot) ||
		s->classes[f->node_class].verdict != CLASS_TAKEN)
		return none;
	const struct class_in_set *in = &s->classes[f->node_class];
	const struct victims_of_node *n = victims_at(v, slot);
	enum fit_shortage shortage = shortage_of(n, &s->ask.room);
	bool evicts = shortage != FIT_SHORTAGES;
	if (evicts && !suffice(n, &s->ask.room))
		return (struct verdict){
			(uint8_t)(VICTIMS_SHORT_OF + shortage), in->tally, BOUND_NONE};
	return (struct verdict){VICTIMS_SUFFICE, in->tally,
		bound_of(fit_index_algorithm(x), n, &s->ask.room, in->affinity, evicts)};
}

enum fit_shortage victim_bounds_shortage(const struct victim_bounds *b, uint32_t slot)
{
	CHECK(slot < b->tree.counts[0] && b->outcomes[slot] != VICTIMS_NOT_ASKED);
	return b->outcomes[slot] == VICTIMS_SUFFICE
		       ? FIT_SHORTAGES
		       : (enum fit_shortage)(b->outcomes[slot] - VICTIMS_SHORT_OF);
}

static void count_slot(struct victim_bounds *b, uint32_t slot, uint32_t by)
{
	if (b->outcomes[slot] >= VICTIMS_SHORT_OF)
		b->shorts[b->tallies[slot]][b->outcomes[slot] - VICTIMS_SHORT_OF] += by;
}

static void note_verdict(struct victim_bounds *b, uint32_t slot, struct verdict verdict)
{
	b->outcomes[slot] = verdict.outcome;
	b->tallies[slot] = verdict.tally;
	count_slot(b, slot, 1);
}

static void judge_all(struct victim_bounds *b, const struct class_set *s, const struct fit_index *x)
{
	uint32_t slots = fit_index_slots(x);

	bounds_tree_make_room(&b->tree, slots);
	b->outcomes = memory_resize(b->outcomes, slots + 1);
	b->tallies = memory_resize(b->tallies, (slots + 1) * sizeof b->tallies[0]);
	b->short_count = s->tallies.short_count;
	free(b->shorts);
	b->shorts = memory_take_array(b->short_count + 1, sizeof b->shorts[0]);
	for (uint32_t slot = 0; slot < slots; slot++) {
		struct verdict verdict = judge_slot(s, x, b->victims, slot);
		b->tree.levels[0][slot] = verdict.bound;
		note_verdict(b, slot, verdict);
	}
	bounds_tree_find_greatest(&b->tree);
}

static void judge_again(struct victim_bounds *b, const struct class_set *s,
	const struct fit_index *x, uint32_t slot)
{
	struct verdict verdict = judge_slot(s, x, b->victims, slot);

	count_slot(b, slot, -1u);
	note_verdict(b, slot, verdict);
	bounds_tree_put(&b->tree, slot, verdict.bound);
}

static bool is_to_begin_anew(const struct victim_bounds *b, const struct class_set *s,
	const struct fit_index *x, const struct victims *v)
{
	return b->victims != v || b->judged != s->judged ||
	       b->tree.counts[0] != fit_index_slots(x) || victims_head(v) - b->seen > VICTIMS_LOG;
}

struct victim_bounds *victim_bounds_of(
	struct class_set *s, const struct fit_index *x, struct victims *v)
{
	struct victim_bounds *b = s->attached;

	if (!b) {
		b = s->attached = memory_take(sizeof *b);
		s->release_attached = release;
	}
	CHECK(s->ask.values == 0);
	if (is_to_begin_anew(b, s, x, v)) {
		b->victims = v;
		judge_all(b, s, x);
	} else {
		// Others the index does not have yet.
		for (uint64_t i = b->seen; i < victims_head(v); i++)
			if (victims_reading(v, i) < b->tree.counts[0])
				judge_again(b, s, x, victims_reading(v, i));
	}
	b->judged = s->judged;
	b->seen = victims_head(v);
	return b;
}
