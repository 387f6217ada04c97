// What an allocation is for the check of a publication. Its node and its job have the names that every process gives
// them. Left out are the tasks' states that its node told, which are kept in more than one form, and its metrics.
#include "state/base/check.h"
#include "state/records/alloc_details.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/sum.h"

static uint64_t two(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

// What is said of its health may stand among the details or beside them.
static uint64_t details_sum(const struct allocation *a, uint64_t sum)
{
	const size_t from = offsetof(struct alloc_details, previous_allocation);
	const struct alloc_deployment_status *health = allocation_health(a);
	struct alloc_details details = {0};

	if (!a->details && !health)
		return sum;
	if (a->details) // but for its references, which others count meanwhile
		memcpy((char *)&details + from, (const char *)a->details + from,
			sizeof details - from);
	details.deployment_status = (struct alloc_deployment_status *)health;
	return record_sum(&alloc_details_description, &details, sum);
}

static uint64_t score_bits(double score)
{
	uint64_t bits;

	memcpy(&bits, &score, sizeof bits);
	return bits;
}

uint64_t allocation_sum(const struct record *record, uint64_t sum)
{
	const struct allocation *a = (const struct allocation *)record;

	CHECK(a->job);
	sum = sum_uuid(sum, &a->node_id);
	sum = sum_u64(sum, a->job->record.modify_index);
	sum = sum_u64(sum, two(a->client, a->index));
	sum = sum_u64(
		sum, two((uint32_t)a->group << 16 | (uint32_t)a->desired << 8 | a->client_status,
			     (uint32_t)a->end_cause << 8 | a->client_text));
	sum = sum_u64(sum, two(a->resources.cpu_mhz, a->resources.memory_mb));
	sum = sum_u64(sum, two(a->resources.disk_mb, a->nodes_evaluated));
	sum = sum_u64(sum, two(a->nodes_feasible, a->node_slot == NODE_SLOT_NONE));
	sum = sum_u64(sum, score_bits(a->score));
	sum = sum_u64(sum, a->alloc_modify_index);
	sum = sum_u64(sum, (uint64_t)a->create_time_ns);
	sum = sum_u64(sum, (uint64_t)a->modify_time_ns);
	sum = sum_uuid(sum, &a->eval_id);
	if (a->devices && !device_set_is_empty(a->devices))
		sum = sum_bytes(sum, a->devices, sizeof *a->devices);
	return details_sum(a, sum);
}
