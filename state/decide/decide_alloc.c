// COMMAND_ALLOC_UPDATE (rows B57, B58, C5) and COMMAND_ALLOC_STOP (row B61).
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>

static void log_refused_report(const struct node *node)
{
	char id[UUID_TEXT_BYTES];

	log_warn("report-refused",
		"error=\"node %s is not allowed to update allocs while in status %s\"",
		uuid_format(&node->id, id), node_status_names[node->status]);
}

static enum command_outcome find_reporter(
	const struct state *state, const struct command_alloc_update *c, const struct node **node)
{
	const struct node *n = node_working(state, c->slot);

	if (!n || n->record.deleted)
		return OUTCOME_UNKNOWN_NODE;
	if (n->generation != c->generation)
		return OUTCOME_STALE_GENERATION;
	if (!node_may_report(n)) {
		log_refused_report(n);
		return OUTCOME_NODE_NOT_ALLOWED;
	}
	*node = n;
	return OUTCOME_DONE;
}

static bool has_twice(const struct reported_alloc *items, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (uuid_equal(&items[i - 1].id, &items[i].id))
			return true;
	return false;
}

static bool items_are_sound(const struct command_alloc_update *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->items[i].client_status > ALLOC_FAILED ||
			(c->items[i].report && !alloc_report_is_sound(c->items[i].report)))
			return false;
	return c->count > 0 && c->count <= ENTRY_ALLOCS_MAX;
}

// The entry of the known items, in the order of their ids; it holds no machines. Reports stay the command's.
static struct entry_alloc_update update_of(
	const struct state *state, bool readiness, struct command_alloc_update *c)
{
	struct entry_alloc_update e = {.slot = c->slot,
		.generation = c->generation,
		.sequence = c->sequence,
		.readiness = readiness,
		.items = memory_take_array(c->count, sizeof e.items[0])};

	for (uint32_t i = 0; i < c->count; i++) {
		struct alloc_update_item *item = &c->items[i];
		item->known = allocation_is_reported_by(state, &item->allocation, c->slot);
		if (item->known)
			e.items[e.count++] = (struct reported_alloc){.id = item->allocation,
				.client_status = item->client_status,
				.healthy = item->healthy,
				.flaky = item->flaky,
				.unready = item->unready,
				.report = item->report};
	}
	qsort(e.items, e.count, sizeof e.items[0], uuid_order);
	return e;
}

// Items about virtual machines of the node become known too.
static void find_machines(const struct decider *d, struct command_alloc_update *c)
{

	for (uint32_t i = 0; i < c->count; i++) {
		struct alloc_update_item *item = &c->items[i];
		if (!item->known)
			item->known = decider_finds_vm(d, c->slot, &item->allocation);
	}
}

static void take_reports_over(struct command_alloc_update *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		if (!c->items[i].known)
			alloc_report_release(c->items[i].report);
		c->items[i].report = NULL;
	}
}

enum command_outcome decide_alloc_update(struct decider *d, struct command *command)
{
	struct command_alloc_update *c = command->alloc_update;
	const struct node *n;
	enum command_outcome outcome = find_reporter(d->state, c, &n);

	if (outcome != OUTCOME_DONE)
		return outcome;
	if (!items_are_sound(c))
		return OUTCOME_BAD_DESCRIPTION;
	struct entry e = {.kind = ENTRY_ALLOC_UPDATE,
		.alloc_update = update_of(d->state, d->standing.readiness, c)};
	struct entry_alloc_update *update = &e.alloc_update;
	find_machines(d, c);
	bool is_news = c->sequence > decider_newest_word(&d->state->cells[n->slot]);
	if (has_twice(update->items, update->count) || !is_news) {
		outcome = is_news ? OUTCOME_BAD_DESCRIPTION : OUTCOME_DONE;
		free(update->items);
		return outcome;
	}
	decider_report_vms(d, c);
	take_reports_over(c);
	CHECK(decider_commit(d, &e) == 0);
	decider_settle_node(d, c->slot);
	return OUTCOME_DONE;
}

static void stop_direct(struct decider *d, const struct alloc_cell *cell)
{
	struct entry e = {.kind = ENTRY_ALLOC_RELEASE, .alloc_release = {.count = 1}};

	e.alloc_release.ids[0] = *alloc_cell_id(cell);
	if (!alloc_cell_is_living(cell))
		return;
	CHECK(decider_commit(d, &e) == 0);
	decider_judge_released(d, &e.alloc_release);
}

static void commit_migration(struct decider *d, const struct command_alloc_stop *c)
{
	struct entry e = {.kind = ENTRY_ALLOC_TRANSITION,
		.alloc_transition = {
			.count = 1, .items = memory_take(sizeof e.alloc_transition.items[0])}};

	e.alloc_transition.items[0] = (struct alloc_transition){c->allocation,
		{.migrate = {true, true}, .no_shutdown_delay = {true, c->no_shutdown_delay}}};
	CHECK(decider_commit(d, &e) == 0);
}

enum command_outcome decide_alloc_stop(struct decider *d, struct command *command)
{
	struct command_alloc_stop *c = &command->alloc_stop;
	const struct alloc_cell *cell = alloc_cell_find(d->state, &c->allocation);

	c->made = (struct eval_made){0};
	if (!cell || !alloc_cell_is_there(cell))
		return OUTCOME_UNKNOWN_ALLOCATION;
	if (job_is_direct(cell->working->job)) {
		stop_direct(d, cell);
		return OUTCOME_DONE;
	}
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	if (!evaluations_have_room(d->state, 1))
		return OUTCOME_TABLE_FULL;
	commit_migration(d, c);
	const struct job *job = cell->working->job;
	CHECK(decider_evaluate(d, decider_evaluation(d, job, TRIGGER_ALLOC_STOP), &c->made));
	return OUTCOME_DONE;
}
