// What a node reported last about its allocations: a record of its own beside the node's, because
// nodes report much more often than anything else changes about them. For state/ only.
#pragma once
#include "state/tables/kind.h"

extern const struct kind node_report_kind;

struct node_report {
	struct record record; // modify_index: of the newest report
	struct uuid node;     // that reported; the slot may have another by now
	uint64_t
		register_index; // of the registration under which it reported; each begins a new sequence
	uint64_t sequence;
};

// The sequence of the newest report since the node at the cell registered; 0: none.
uint64_t node_report_sequence(const struct node_cell *); // applier
// The index of its newest report under any registration; 0: none.
uint64_t node_report_index(const struct node_cell *); // applier
void node_report_note(struct state *, struct node_cell *, uint64_t sequence, uint64_t index);
// The report of a node as of an index at which it was there: see state_version_at(). NULL: none.
const struct node_report *node_report_at(
	const struct node_cell *, const struct node *, uint64_t index);
// Puts a report into a state that nobody reads yet.
void node_report_load(struct node_cell *, const struct node *, uint64_t sequence, uint64_t index);
