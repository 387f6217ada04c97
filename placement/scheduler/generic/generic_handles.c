// Tasks that run away from their node go on when it is lost or drained: the new allocation gets their handles (row
// C51).
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/generic/generic_attempt.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <string.h>

static bool has_ended_on_its_node(const struct allocation *a)
{
	return a->client_status == ALLOC_COMPLETE || a->client_status == ALLOC_FAILED ||
	       a->client_status == ALLOC_LOST;
}

static bool has_task(const struct task_group *group, const char *name)
{
	for (uint32_t i = 0; i < group->tasks.count; i++)
		if (strcmp(ARRAY_AT(&group->tasks, struct task, i)->name, name) == 0)
			return true;
	return false;
}

static struct alloc_report *add_handle(struct alloc_report *report, const struct task_state *from)
{
	CHECK(from->handle);
	if (!report)
		report = alloc_report_create();
	struct task_state *to = array_append(&report->task_states, sizeof *to);
	to->task = text_copy(text_of(from->task));
	to->state = TASK_PENDING;
	to->handle = memory_take(sizeof *to->handle);
	record_copy(&task_handle_description, to->handle, from->handle);
	return report;
}

struct alloc_report *generic_handles(
	const struct reconcile_place *wanted, const struct task_group *group)
{
	const struct allocation *previous = wanted->previous;
	struct alloc_report_room room;
	struct alloc_report *report = NULL;

	if (!previous || !previous->report || has_ended_on_its_node(previous) ||
		!(wanted->lost || allocation_is_to_migrate(previous)))
		return NULL;
	const struct alloc_report *said = alloc_report_open(previous->report, &room);
	for (uint32_t i = 0; i < said->task_states.count; i++) {
		const struct task_state *state = ARRAY_AT(&said->task_states, struct task_state, i);
		if (state->handle && has_task(group, state->task))
			report = add_handle(report, state);
	}
	alloc_report_close(&room);
	CHECK(!report || report->task_states.count > 0);
	return report;
}
