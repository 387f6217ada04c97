// Kinds of items of a snapshot: enum state_table, and what is no record; see snapshot_view.c.
#pragma once

enum snapshot_item_kind { // stored: numbers are never given again
	SNAPSHOT_HEAD = 0xf0,
	SNAPSHOT_CLIENT,
	SNAPSHOT_CLASS,         // before the first node of the class
	SNAPSHOT_FREE_SLOT,     // among the nodes
	SNAPSHOT_PLACE_IN_PART, // among the placement requests
	SNAPSHOT_NAMESPACED,    // after the head
};
