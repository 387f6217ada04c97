// Creates evaluations that look at the job again at given times; times close to each other share one evaluation (row
// C24).
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include "state/base/time_units.h"
#include <stdlib.h>

#define BATCH_NS (5 * NS_PER_S)

static int by_time(const void *a, const void *b)
{
	const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static const struct evaluation *create_follow_up(const struct reconciler *r, int64_t when_ns,
	enum eval_trigger trigger, const char *description)
{
	CHECK(r->job && trigger < EVAL_TRIGGERS);
	const struct evaluation *eval = r->ask->eval;
	struct evaluation *followup = evaluation_create();
	followup->id = prng_uuid(r->ask->prng);
	followup->namespace_name = text_copy(text_of(eval->namespace_name));
	followup->job_id = text_copy(text_of(eval->job_id));
	followup->priority = eval->priority;
	followup->type = r->ask->batch ? EVAL_BATCH : EVAL_SERVICE;
	followup->triggered_by = trigger;
	followup->job_modify_index = r->job->record.modify_index;
	followup->status = EVAL_PENDING;
	followup->status_description = text_copy(text_of(description));
	followup->wait_until_ns = when_ns;
	followup->previous_eval = eval->id;
	*APPEND(&r->result->follow_ups, struct evaluation *) = followup;
	return followup;
}

void create_follow_ups(struct group_pass *g, struct member **members, uint32_t count,
	enum eval_trigger trigger, const char *description)
{
	CHECK(count == 0 || !is_delayed(g->r->ask));
	const struct evaluation *followup = NULL;
	if (count > 1)
		qsort(members, count, sizeof *members, by_time);
	for (uint32_t i = 0; i < count; i++) {
		int64_t when_ns = members[i]->due_ns;
		if (!followup || when_ns - followup->wait_until_ns >= BATCH_NS)
			followup = create_follow_up(g->r, when_ns, trigger, description);
		members[i]->followup = followup->id;
	}
	CHECK(count == 0 || followup);
}
