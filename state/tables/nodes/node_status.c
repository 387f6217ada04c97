#include "state/tables/nodes/node_status.h"
#include "state/base/check.h"
#include "state/log/entry.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/nodes/node_groups.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

// Returns since when the allocation is unknown; 0: that was not noted.
static int64_t unknown_since_ns(const struct allocation *a)
{
	for (uint32_t i = a->details ? a->details->states.count : 0; i-- > 0;) {
		const struct alloc_state *s = ARRAY_AT(&a->details->states, struct alloc_state, i);
		if (strcmp(s->field, "ClientStatus") == 0 && strcmp(s->value, "unknown") == 0)
			return s->time_ns;
	}
	return 0;
}

// Whether the allocation may go on without its controller and its time for that is not over. Allocations of direct jobs
// may not: they have no scheduler that would take them back.
static bool may_be_away(const struct allocation *a, int64_t now_ns)
{
	const struct optional_i64 *most = &allocation_group(a)->max_client_disconnect_ns;

	if (job_is_direct(a->job) || !most->set || most->value <= 0)
		return false;
	int64_t since_ns = a->client_status == ALLOC_UNKNOWN ? unknown_since_ns(a) : 0;
	return since_ns == 0 || now_ns - since_ns < most->value;
}

static bool may_be_disconnected(const struct node_cell *node, int64_t now_ns)
{
	const struct alloc_cell *cell;

	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (alloc_cell_is_living(cell) && may_be_away(cell->working, now_ns))
			return true;
	}
	return false;
}

static uint8_t silent_status(const struct node_cell *node, int64_t now_ns)
{
	uint8_t status = node->working->status;
	CHECK(status < NODE_STATUSES);
	bool was_whole = status == NODE_READY || status == NODE_DISCONNECTED;

	return was_whole && may_be_disconnected(node, now_ns) ? NODE_DISCONNECTED : NODE_DOWN;
}

uint8_t node_status_after(const struct node_cell *node, uint8_t cause, int64_t now_ns)
{
	uint8_t status = node->working->status;

	CHECK(status < NODE_STATUSES && cause < NODE_CAUSES);
	if (cause == NODE_CAUSE_GOODBYE || cause == NODE_CAUSE_REVOKED)
		return NODE_DOWN;
	if (cause == NODE_CAUSE_EXPIRED)
		return silent_status(node, now_ns);
	if (status == NODE_DISCONNECTED)
		return NODE_INITIALIZING;
	if (status == NODE_INITIALIZING && !node_is_settled(node))
		return NODE_INITIALIZING;
	return NODE_READY;
}

// What a registration made of nodes before they were awaited.
static uint8_t status_of_trusted(const struct node_cell *node)
{
	uint8_t status = node->working->status;
	CHECK(status < NODE_STATUSES);
	bool was_away = status == NODE_DISCONNECTED || status == NODE_INITIALIZING;

	return was_away && node->living > 0 ? NODE_INITIALIZING : NODE_READY;
}

uint8_t node_status_registered(const struct node_cell *node, bool is_awaited)
{
	CHECK(!node || node->working);
	if (!is_awaited)
		return node ? status_of_trusted(node) : NODE_READY;
	return node ? node->working->status : NODE_INITIALIZING;
}

bool node_is_awaited(const struct node *n)
{
	return n->status == NODE_INITIALIZING && n->status_message == NODE_REGISTERED;
}

bool node_is_settled(const struct node_cell *node)
{
	CHECK(node->working);
	return node_report_index(node) > node->working->missed_heartbeat_index || node->living == 0;
}

void node_busy_changed(struct state *state, uint32_t slot)
{
	bool is_busy = state->cells[slot].living > 0;

	CHECK(is_busy || state->counts.nodes_running > 0);
	state->counts.nodes_running += is_busy ? 1u : -1u;
	if (node_groups_has(state->node_groups, slot))
		node_groups_set_busy(state->node_groups, slot, is_busy);
}
