#include "bench/naive/naive_service.h"
#include "placement/direct/placement.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct naive_service *naive_service_create(uint32_t nodes, uint32_t racks)
{
	struct naive_service *s = memory_take(sizeof *s);

	s->nodes = memory_take_array(nodes, sizeof s->nodes[0]);
	s->of_value = memory_take_array(nodes > racks ? nodes : racks, sizeof s->of_value[0]);
	s->node_count = nodes;
	s->rack_count = racks;
	return s;
}

void naive_service_destroy(struct naive_service *s)
{
	free(s->nodes);
	free(s->of_value);
	free(s);
}

static uint32_t value_count(const struct naive_service *s)
{
	return s->by_name ? s->node_count : s->rack_count;
}

static uint32_t value_of(const struct naive_service *s, const struct naive_service_node *n)
{
	return s->by_name ? (uint32_t)(n - s->nodes) : n->rack;
}

void naive_service_reset(struct naive_service *s)
{
	memset(s->of_value, 0, value_count(s) * sizeof s->of_value[0]);
	for (uint32_t i = 0; i < s->node_count; i++) {
		s->nodes[i].used = (struct resources){0};
		s->nodes[i].instances = 0;
	}
}

// An even spread does not know values without an instance.
static void find_boosts(const struct naive_service *s, double *boosts)
{
	uint32_t least = UINT32_MAX, most = 0, count = value_count(s);

	for (uint32_t i = 0; i < count; i++) {
		if (s->of_value[i] == 0)
			continue;
		least = s->of_value[i] < least ? s->of_value[i] : least;
		most = s->of_value[i] > most ? s->of_value[i] : most;
	}
	for (uint32_t i = 0; i < count && most > 0; i++) {
		uint32_t current = s->of_value[i];
		boosts[i] = current != least ? ((double)least - current) / least
			    : least == most  ? -1
					     : ((double)most - least) / least;
	}
}

static bool fits(const struct naive_service *s, const struct naive_service_node *n)
{
	return n->used.cpu_mhz + s->ask.cpu_mhz <= n->capacity.cpu_mhz &&
	       n->used.memory_mb + s->ask.memory_mb <= n->capacity.memory_mb &&
	       n->used.disk_mb + s->ask.disk_mb <= n->capacity.disk_mb &&
	       (s->value_limit == 0 || s->of_value[value_of(s, n)] < s->value_limit) &&
	       (!s->volume || n->has_volume) && (!s->unique || !n->is_named) &&
	       (!s->port || n->instances == 0) && (!s->device || n->instances < n->devices) &&
	       (!s->core || n->instances < n->cores);
}

static double score_of(
	const struct naive_service *s, const struct naive_service_node *n, const double *boosts)
{
	struct resources used = resources_plus(n->used, s->ask);
	double sum = placement_score(PLACEMENT_BINPACK, n->capacity, used);
	uint32_t scores = 1;

	if (s->likes_device) {
		sum += 1;
		scores++;
	}
	if (n->instances > 0) {
		sum += -((double)n->instances + 1) / s->count;
		scores++;
	}
	if ((s->affinity && n->preferred) || (s->likes_node && n->is_named)) {
		sum += 1;
		scores++;
	}
	if (s->spread && boosts[value_of(s, n)] != 0) {
		sum += boosts[value_of(s, n)];
		scores++;
	}
	return sum / scores;
}

static bool is_better(
	const struct naive_service *s, uint32_t node, double score, uint32_t than, double other)
{
	bool is_idle = s->nodes[node].instances == 0, is_other_idle = s->nodes[than].instances == 0;

	return s->snapshot && is_idle != is_other_idle ? is_idle : score > other;
}

uint32_t naive_service_place(struct naive_service *s)
{
	double best_score = 0, *boosts = memory_take_array(value_count(s), sizeof *boosts);
	uint32_t best = s->node_count;

	if (s->spread)
		find_boosts(s, boosts);
	for (uint32_t i = 0; i < s->node_count; i++) {
		if (!fits(s, &s->nodes[i]))
			continue;
		double score = score_of(s, &s->nodes[i], boosts);
		if (best == s->node_count || is_better(s, i, score, best, best_score)) {
			best = i;
			best_score = score;
		}
	}
	free(boosts);
	if (best < s->node_count) {
		s->nodes[best].used = resources_plus(s->nodes[best].used, s->ask);
		s->nodes[best].instances++;
		s->of_value[value_of(s, &s->nodes[best])]++;
	}
	return best;
}
