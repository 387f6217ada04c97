// Evaluations that an operator deletes while no scheduler works, to be rid of a backlog.
#include "state/base/array.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/log/entry.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/settings.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdio.h>

// Keeps the ids that may go, in order. False: one may not, and the message says why.
static bool choose_ids(const struct state *state, struct command_evaluations_delete *c)
{
	char id[UUID_TEXT_BYTES];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct eval_cell *cell = eval_cell_find(state, &c->ids[i]);
		bool is_there = cell && eval_cell_is_there(cell);
		if (is_there && cell->allocations == 0) {
			c->ids[kept++] = c->ids[i];
			continue;
		}
		if (c->leaves_others)
			continue;
		if (is_there)
			snprintf(c->message, sizeof c->message, "eval %s is not safe to delete",
				uuid_format(&c->ids[i], id));
		else
			snprintf(c->message, sizeof c->message, "eval not found");
		return false;
	}
	c->count = kept;
	return true;
}

static void delete_ids(struct decider *d, const struct uuid *ids, uint32_t count)
{
	struct entry e = {.kind = ENTRY_GC, .gc = {.kind = GC_EVALUATION_ALIVE, .count = count}};

	CHECK(count > 0 && count <= GC_ITEMS_MAX);
	e.gc.ids = memory_take_array(count, sizeof e.gc.ids[0]);
	memcpy(e.gc.ids, ids, count * sizeof e.gc.ids[0]);
	CHECK(decider_commit(d, &e) == 0);
}

enum command_outcome decide_evaluations_delete(struct decider *d, struct command *command)
{
	struct command_evaluations_delete *c = command->evaluations_delete;

	c->deleted = 0;
	c->message[0] = '\0';
	if (!scheduler_config_working(d->state)->pause_eval_broker) {
		snprintf(c->message, sizeof c->message,
			"eval broker is enabled; eval broker must be paused to delete evals");
		return OUTCOME_CONFLICT;
	}
	c->count = items_sort_unique(c->ids, c->count, sizeof c->ids[0], uuid_order);
	if (!choose_ids(d->state, c))
		return OUTCOME_CONFLICT;
	for (uint32_t at = 0; at < c->count; at += GC_ITEMS_MAX) {
		uint32_t left = c->count - at;
		delete_ids(d, c->ids + at, left < GC_ITEMS_MAX ? left : GC_ITEMS_MAX);
	}
	c->deleted = c->count;
	return OUTCOME_DONE;
}
