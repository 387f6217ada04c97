#include "bench/naive/naive_service.h"
#include "placement/direct/placement.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct naive_service *naive_service_create(uint32_t nodes, uint32_t racks)
{
	struct naive_service *s = memory_take(sizeof *s);

	s->nodes = memory_take_array(nodes, sizeof s->nodes[0]);
	s->of_rack = memory_take_array(racks, sizeof s->of_rack[0]);
	s->node_count = nodes;
	s->rack_count = racks;
	return s;
}

void naive_service_destroy(struct naive_service *s)
{
	free(s->nodes);
	free(s->of_rack);
	free(s);
}

void naive_service_reset(struct naive_service *s)
{
	memset(s->of_rack, 0, s->rack_count * sizeof s->of_rack[0]);
	for (uint32_t i = 0; i < s->node_count; i++) {
		s->nodes[i].used = (struct resources){0};
		s->nodes[i].instances = 0;
	}
}

// An even spread does not know racks without an instance.
static double spread_boost(const struct naive_service *s, uint32_t rack)
{
	uint32_t least = UINT32_MAX, most = 0, current = s->of_rack[rack];

	for (uint32_t i = 0; i < s->rack_count; i++) {
		if (s->of_rack[i] == 0)
			continue;
		least = s->of_rack[i] < least ? s->of_rack[i] : least;
		most = s->of_rack[i] > most ? s->of_rack[i] : most;
	}
	if (most == 0)
		return 0;
	if (current != least)
		return ((double)least - current) / least;
	return least == most ? -1 : ((double)most - least) / least;
}

static bool fits(const struct naive_service *s, const struct naive_service_node *n)
{
	return n->used.cpu_mhz + s->ask.cpu_mhz <= n->capacity.cpu_mhz &&
	       n->used.memory_mb + s->ask.memory_mb <= n->capacity.memory_mb &&
	       n->used.disk_mb + s->ask.disk_mb <= n->capacity.disk_mb &&
	       (s->rack_limit == 0 || s->of_rack[n->rack] < s->rack_limit) &&
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
	if (s->spread && boosts[n->rack] != 0) {
		sum += boosts[n->rack];
		scores++;
	}
	return sum / scores;
}

uint32_t naive_service_place(struct naive_service *s)
{
	double best_score = 0, *boosts = memory_take_array(s->rack_count, sizeof *boosts);
	uint32_t best = s->node_count;

	for (uint32_t i = 0; i < s->rack_count && s->spread; i++)
		boosts[i] = spread_boost(s, i);
	for (uint32_t i = 0; i < s->node_count; i++) {
		if (!fits(s, &s->nodes[i]))
			continue;
		double score = score_of(s, &s->nodes[i], boosts);
		if (best == s->node_count || score > best_score) {
			best = i;
			best_score = score;
		}
	}
	free(boosts);
	if (best < s->node_count) {
		s->nodes[best].used = resources_plus(s->nodes[best].used, s->ask);
		s->nodes[best].instances++;
		s->of_rack[s->nodes[best].rack]++;
	}
	return best;
}
