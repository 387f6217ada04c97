// Kinds of items of a snapshot, in the order in which they come; see snapshot_view.c.
#pragma once

enum snapshot_item_kind { // stored: numbers are never given again
	SNAPSHOT_HEAD = 1,
	SNAPSHOT_CLIENT,
	SNAPSHOT_CLASS, // before the first node that is of it
	SNAPSHOT_NODE,
	SNAPSHOT_JOB_VERSION,
	SNAPSHOT_JOB,
	SNAPSHOT_ALLOCATION,
	SNAPSHOT_REQUEST,
	SNAPSHOT_EVALUATION,
	SNAPSHOT_CONFIG,
	SNAPSHOT_FREE_SLOT, // among the nodes
	SNAPSHOT_DEPLOYMENT,
	SNAPSHOT_VM_WORKER,
	SNAPSHOT_VM,
	SNAPSHOT_CLUSTER_SETTINGS,
	SNAPSHOT_END,
};
