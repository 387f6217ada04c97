#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/node/preempt.h"
#include "state/base/check.h"
#include <math.h>
#include <string.h>

double anti_affinity_score(const struct group_rules *g, uint32_t of_group)
{
	if (of_group == 0 || g->group->count <= 0)
		return 0;
	return -((double)of_group + 1) / (double)g->group->count;
}

double affinity_score(const struct group_rules *g, const struct node *n)
{
	double sum = 0;
	for (uint32_t i = 0; i < g->affinity_count; i++)
		if (g->affinities[i].condition &&
			constraint_matches_node(g->affinities[i].condition, n))
			sum += g->affinities[i].weight;
	return sum == 0 ? 0 : sum / g->affinity_weights;
}

enum snapshot_tier stack_snapshot_tier(
	const struct stack *s, const struct group_rules *g, const struct node *n)
{
	CHECK(g->snapshot);
	return snapshot_tier(g->snapshot, n->snapshot, proposal_is_idle(&s->proposal, n->slot));
}

const struct spread_bucket *spread_rest(const struct compiled_spread *spread)
{
	if (spread->bucket_count == 0)
		return NULL;
	const struct spread_bucket *last = &spread->buckets[spread->bucket_count - 1];
	return last->value ? NULL : last;
}

const struct spread_bucket *spread_bucket_of(
	const struct compiled_spread *spread, const char *value)
{
	CHECK(value);
	for (uint32_t i = 0; i < spread->bucket_count; i++)
		if (spread->buckets[i].value && strcmp(spread->buckets[i].value, value) == 0)
			return &spread->buckets[i];
	return spread_rest(spread);
}

static double target_boost(
	const struct compiled_spread *spread, const struct spread_bucket *bucket, int64_t used)
{
	if (!bucket)
		return -1;
	if (bucket->desired == 0)
		return NAN;
	return (bucket->desired - (double)(used + 1)) / bucket->desired * spread->weight;
}

int64_t spread_unlisted(const struct compiled_spread *spread, double *lowest)
{
	int64_t left = spread->counts.total;
	for (uint32_t i = 0; i < spread->bucket_count; i++) {
		const struct spread_bucket *bucket = &spread->buckets[i];
		// The bucket of all others comes last.
		int64_t used =
			bucket->value ? property_set_used(&spread->counts, bucket->value) : left;
		left -= bucket->value ? used : 0;
		double boost = target_boost(spread, bucket, used);
		if (lowest && boost < *lowest) // never true of NaN
			*lowest = boost;
	}
	CHECK(left >= 0);
	return left;
}

// docs/spec/scoring.md, "Even spread".
static double even_boost(const struct compiled_spread *spread, int64_t current)
{
	struct property_range range = property_set_range(&spread->counts);
	int64_t least = range.least, most = range.most;
	if (!range.any)
		return 0;
	if (current != least)
		return least == 0 ? -1 : (double)(least - current) / (double)least;
	if (least == most)
		return -1;
	return least == 0 ? 1 : (double)(most - least) / (double)least;
}

double spread_boost(const struct compiled_spread *spread, int64_t used,
	const struct spread_bucket *bucket, int64_t unlisted)
{
	CHECK(used >= 0 || used == SPREAD_NO_VALUE);
	if (used == SPREAD_NO_VALUE)
		return -1;
	if (!spread->bucket_count)
		return even_boost(spread, used);
	return target_boost(spread, bucket, bucket && !bucket->value ? unlisted : used);
}

// The boost of a value by its text.
static double boost_of(const struct compiled_spread *spread, const char *value)
{
	CHECK(value);
	if (!spread->bucket_count)
		return even_boost(spread, property_set_used(&spread->counts, value));
	const struct spread_bucket *bucket = spread_bucket_of(spread, value);
	bool rest = bucket && !bucket->value;
	return target_boost(spread, bucket,
		rest ? spread_unlisted(spread, NULL) : property_set_used(&spread->counts, value));
}

double spread_score(const struct group_rules *g, const struct node *n)
{
	CHECK(g->spread_count > 0);
	char id[UUID_TEXT_BYTES];
	double sum = 0;
	for (uint32_t i = 0; i < g->spread_count; i++) {
		const struct compiled_spread *spread = &g->spreads[i];
		const char *value = property_set_value(&spread->counts, n, id);
		double boost = value ? boost_of(spread, value) : -1;
		sum += isnan(boost) ? *g->lowest_boost : boost;
	}
	return sum;
}

static bool is_penalised(const struct stack_request *r, const struct node *n)
{
	CHECK(r->penalty_count == 0 || r->penalty_nodes);
	for (uint32_t i = 0; i < r->penalty_count; i++)
		if (uuid_equal(&r->penalty_nodes[i], &n->id))
			return true;
	return false;
}

static void record_or_show(struct stack_option *o, enum score_kind kind, double score)
{
	CHECK(kind < SCORE_SNAPSHOT);
	if (score != 0)
		option_record(o, kind, score);
	else
		o->shown |= (uint8_t)(1u << kind);
}

// The snapshot that a failed instance left on a node does not draw it back there.
static void show_snapshot(const struct stack *s, const struct group_rules *g,
	const struct stack_request *r, struct stack_option *o)
{
	CHECK(g->snapshot);
	enum snapshot_tier tier = stack_snapshot_tier(s, g, o->node);
	if (tier > SNAPSHOT_OTHER && is_penalised(r, o->node))
		tier = SNAPSHOT_OTHER;
	o->scores[SCORE_SNAPSHOT] = snapshot_tier_score(tier);
	o->shown |= 1u << SCORE_SNAPSHOT;
}

void stack_rank(struct stack *s, const struct group_rules *g, const struct stack_request *r,
	struct stack_option *o)
{
	CHECK(o->outcome == STACK_FITS && o->node);
	struct neighbours near = stack_neighbours(s, g, o->slot);
	record_or_show(o, SCORE_ANTI_AFFINITY, anti_affinity_score(g, near.of_group));
	record_or_show(o, SCORE_RESCHEDULE_PENALTY, is_penalised(r, o->node) ? -1 : 0);
	record_or_show(o, SCORE_AFFINITY, affinity_score(g, o->node));
	double spread = g->spread_count ? spread_score(g, o->node) : 0;
	if (spread != 0)
		option_record(o, SCORE_SPREAD, spread);
	if (o->preempted_count > 0)
		option_record(
			o, SCORE_PREEMPTION, preemption_score(o->preempted, o->preempted_count));
	if (g->snapshot)
		show_snapshot(s, g, r, o);
	option_settle(o);
}
