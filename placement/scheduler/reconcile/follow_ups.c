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
	const struct due_member *x = a, *y = b;
	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
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

static void set_followup(struct reconciler *r, const struct member *m, const struct uuid *id)
{
	CHECK(m >= r->members && m < r->members + r->member_count);
	if (!r->followups)
		r->followups = memory_take_array(r->member_count, sizeof *r->followups);
	r->followups[m - r->members] = *id;
}

void create_follow_ups(struct group_pass *g, struct array *due_members, enum eval_trigger trigger,
	const char *description)
{
	CHECK(due_members->count == 0 || !is_delayed(g->r->ask));
	const struct evaluation *followup = NULL;
	if (due_members->count > 1)
		qsort(due_members->items, due_members->count, sizeof(struct due_member), by_time);
	for (uint32_t i = 0; i < due_members->count; i++) {
		const struct due_member *due = ARRAY_AT(due_members, struct due_member, i);
		if (!followup || due->due_ns - followup->wait_until_ns >= BATCH_NS)
			followup = create_follow_up(g->r, due->due_ns, trigger, description);
		set_followup(g->r, due->member, &followup->id);
	}
	CHECK(due_members->count == 0 || followup);
}
