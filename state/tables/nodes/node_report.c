#include "state/tables/nodes/node_report.h"
#include "state/base/check.h"
#include "state/records/slab.h"
#include "state/tables/kind.h"
#include "state/tables/state.h"
#include "state/tables/sum.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

// A report from before the node was purged and came back does not count.
static bool is_of(const struct node_report *report, const struct node *n)
{
	return report && uuid_equal(&report->node, &n->id) &&
	       report->record.modify_index > n->record.create_index;
}

uint64_t node_report_sequence(const struct node_cell *cell)
{
	const struct node_report *report = cell->report_working;

	CHECK(cell->working);
	return is_of(report, cell->working) &&
			       report->register_index == cell->working->register_index
		       ? report->sequence
		       : 0;
}

uint64_t node_report_index(const struct node_cell *cell)
{
	const struct node_report *report = cell->report_working;
	return is_of(report, cell->working) ? report->record.modify_index : 0;
}

static struct node_report *report_build(const struct node *n, uint64_t sequence, uint64_t index)
{
	CHECK(index > 0 && !uuid_is_zero(&n->id));
	struct node_report *report = slab_take(sizeof *report);

	report->record.create_index = report->record.modify_index = index;
	report->node = n->id;
	report->register_index = n->register_index;
	report->sequence = sequence;
	return report;
}

void node_report_note(
	struct state *state, struct node_cell *cell, uint64_t sequence, uint64_t index)
{
	struct node_report *old = cell->report_working;

	CHECK(cell->working && (!old || old->record.modify_index < index));
	if (old && old->record.modify_index >= state->unpublished_from) {
		old->record.modify_index = index;
		old->node = cell->working->id;
		old->register_index = cell->working->register_index;
		old->sequence = sequence;
		return;
	}
	cell->report_working = report_build(cell->working, sequence, index);
	cell->report_working->record.older = old ? &old->record : NULL;
	change_add(
		state->changes, STATE_NODE_REPORTS, &cell->report, &cell->report_working->record);
	CHECK(node_report_sequence(cell) == sequence);
}

const struct node_report *node_report_at(
	const struct node_cell *cell, const struct node *n, uint64_t index)
{
	const struct node_report *newest = __atomic_load_n(&cell->report, __ATOMIC_ACQUIRE);
	const struct node_report *report =
		(const struct node_report *)state_version_at((const struct record *)newest, index);

	CHECK(!report || report->record.modify_index <= index);
	return is_of(report, n) ? report : NULL;
}

void node_report_load(
	struct node_cell *cell, const struct node *n, uint64_t sequence, uint64_t index)
{
	CHECK(!cell->report_working);
	cell->report_working = report_build(n, sequence, index);
	publish_loaded(STATE_NODE_REPORTS, &cell->report, cell->report_working);
}

uint64_t state_node_report_index(const struct state *state, const struct node *n)
{
	const struct node_report *report = node_report_at(&state->cells[n->slot], n, UINT64_MAX);
	return report ? report->record.modify_index : 0;
}

static uint64_t node_report_sum(const struct record *record, uint64_t sum)
{
	const struct node_report *report = (const struct node_report *)record;

	sum = sum_uuid(sum, &report->node);
	return sum_u64(sum_u64(sum, report->register_index), report->sequence);
}

static void free_node_report(void *record)
{
	slab_give(record, sizeof(struct node_report));
}

// The cell of a report is a part of its node's cell.
const struct kind node_report_kind = {
	.name = "node report",
	.is_quiet = true,
	.sum = node_report_sum,
	.free = free_node_report,
};
