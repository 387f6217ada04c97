// What a node is for the check of a publication: without its slot, and without since when it is described as it is,
// which a start forgets.
#include "state/base/check.h"
#include "state/records/nodes/node_own.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/sum.h"

static uint64_t resources_sum(struct resources r, uint64_t sum)
{
	return sum_u64(sum_u64(sum, (uint64_t)r.cpu_mhz << 32 | r.memory_mb), r.disk_mb);
}

static uint64_t walk_sum(struct own_walk walk, uint64_t sum)
{
	struct attribute pair;

	sum = sum_u64(sum, walk.left);
	while (own_walk_next(&walk, &pair))
		sum = sum_string(sum_string(sum, pair.name), pair.value);
	return sum;
}

static uint64_t standing_sum(const struct standing *s, uint64_t sum)
{
	CHECK(standing_is_sound(s));
	sum = sum_u64(sum, (uint64_t)s->lost_ns);
	sum = sum_u64(sum, (uint64_t)s->flaky_ns);
	return sum_u64(sum, (uint64_t)s->readiness << 3 | (uint64_t)s->offlined << 2 |
				    (uint64_t)s->forgotten << 1 | s->unready);
}

static uint64_t drains_sum(const struct node *n, uint64_t sum)
{
	const struct last_drain *last = node_last_drain(n);

	sum = sum_u64(sum, (uint64_t)n->was_drained << 1 | (n->drain != NULL));
	if (n->drain) {
		sum = sum_u64(sum, (uint64_t)n->drain->deadline_ns);
		sum = sum_u64(sum, (uint64_t)n->drain->force_deadline_ns);
		sum = sum_u64(sum, (uint64_t)n->drain->started_at_ns);
		sum = sum_u64(sum, n->drain->ignore_system_jobs);
	}
	if (last) {
		sum = sum_u64(sum, (uint64_t)last->started_at_ns);
		sum = sum_u64(sum, (uint64_t)last->updated_at_ns);
		sum = sum_u64(sum, (uint64_t)last->status << 32 | last->meta_count);
	}
	return sum;
}

// The newest alone: the others were the newest once.
static uint64_t event_sum(const struct node *n, uint64_t sum)
{
	sum = sum_u64(sum, n->event_count);
	if (n->event_count == 0)
		return sum;
	const struct node_event *newest = &node_events(n)[n->event_count - 1];
	sum = sum_u64(sum, (uint64_t)newest->message << 32 | newest->timestamp_s);
	return sum_u64(sum, newest->create_index);
}

uint64_t node_sum(const struct record *record, uint64_t sum)
{
	const struct node *n = (const struct node *)record;

	CHECK(n->node_class);
	sum = sum_u64(sum, n->node_class->hash);
	sum = sum_u64(
		sum, (uint64_t)n->status << 16 | (uint64_t)n->eligibility << 8 | n->status_message);
	sum = sum_u64(sum,
		(uint64_t)n->keeps_ports_back << 32 | (uint64_t)n->port_least << 16 | n->port_most);
	sum = standing_sum(&n->standing, sum);
	sum = resources_sum(n->reserved, resources_sum(n->total, sum));
	sum = event_sum(n, drains_sum(n, sum));
	sum = sum_u64(sum, n->register_sequence);
	sum = sum_u64(sum, n->register_index);
	sum = sum_u64(sum, n->missed_heartbeat_index);
	sum = sum_u64(sum, n->status_updated_at_s);
	sum = sum_string(sum, n->snapshot);
	sum = sum_string(sum_string(sum_string(sum, n->name), node_address(n)), node_version(n));
	return walk_sum(node_own_meta(n), walk_sum(node_own_attributes(n), sum));
}
