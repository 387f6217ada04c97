// What a job is for the check of a publication: what is kept of it, and its newest version when that is new.
#include "state/base/check.h"
#include "state/records/job_notes.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/sum.h"

static uint64_t mark_sum(const struct job_mark *mark, uint64_t sum)
{
	if (mark->first_ns == 0)
		return sum;
	sum = sum_u64(sum, (uint64_t)mark->first_ns);
	sum = sum_u64(sum, (uint64_t)mark->newest_ns);
	sum = sum_u64(sum, (uint64_t)mark->trigger << 8 | mark->type);
	sum = sum_u64(sum, (uint64_t)mark->priority);
	sum = sum_uuid(sum, &mark->node);
	return sum_u64(sum, mark->node_modify_index);
}

static uint64_t counters_sum(const struct job_keep *keep, uint64_t sum)
{
	sum = sum_u64(sum, (uint64_t)keep->counter_floor << 32 | keep->counter_count);
	for (uint32_t i = 0; i < keep->counter_count; i++) {
		const struct group_counter *c = &keep->counters[i];
		struct text name = job_keep_counter_name(keep, i);
		sum = sum_bytes(sum, name.data, name.size);
		sum = sum_u64(sum, (uint64_t)c->next << 32 | c->queued);
		sum = sum_bytes(sum, c->clients, sizeof c->clients);
	}
	return sum;
}

static uint64_t versions_sum(const struct job_keep *keep, uint64_t sum)
{
	const struct job_keep *older = (const struct job_keep *)keep->record.older;
	const struct job *newest = keep->versions[0];

	for (uint32_t i = 0; i < keep->version_count; i++)
		sum = sum_u64(sum, keep->versions[i]->record.modify_index);
	sum = sum_u64(sum, newest->version << 1 | newest->stop);
	bool is_known = older && older->version_count > 0 &&
			older->versions[0]->record.modify_index == newest->record.modify_index;
	return is_known ? sum : record_sum(&job_type_description, newest, sum);
}

uint64_t job_keep_sum(const struct record *record, uint64_t sum)
{
	const struct job_keep *keep = (const struct job_keep *)record;

	CHECK(keep->version_count > 0 && keep->version_count <= JOB_VERSIONS_MAX);
	sum = sum_u64(
		sum, (uint64_t)keep->status << 16 | (uint64_t)keep->stable << 8 | keep->had_work);
	sum = sum_u64(sum, (uint64_t)keep->stopped_ns);
	sum = sum_u64(sum, (uint64_t)keep->children.pending);
	sum = sum_u64(sum, (uint64_t)keep->children.running);
	sum = sum_u64(sum, (uint64_t)keep->children.dead);
	sum = counters_sum(keep, versions_sum(keep, mark_sum(&keep->mark, sum)));
	return keep->notes ? record_sum(&job_notes_description, keep->notes, sum) : sum;
}
