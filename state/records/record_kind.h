// The kinds of records that the state keeps, by the numbers under which entries and snapshots store them.
#pragma once

enum record_kind {             // stored: numbers are never given again
	RECORD_EVALUATION = 6, // those before are stored in ways of their own
	RECORD_SCHEDULER_CONFIG,
	RECORD_DEPLOYMENT,
	RECORD_VM_WORKER,
	RECORD_VM,
	RECORD_CLUSTER_SETTINGS,
	RECORD_KINDS,
};
