#include "state/log/command.h"

const struct command_outcome_row command_outcomes[] = {
	[OUTCOME_DONE] = {"done", ""},
	[OUTCOME_STALE_GENERATION] = {"stale-generation", "the node registered anew meanwhile"},
	[OUTCOME_STALE_REGISTRATION] = {"stale-registration", "a newer registration is known"},
	[OUTCOME_BAD_DESCRIPTION] = {"bad-description", "the description is over a limit"},
	[OUTCOME_PART_STORED] = {"part-stored", "more parts are needed"},
	[OUTCOME_UNKNOWN_NODE] = {"unknown-node", "node not found"},
	[OUTCOME_UNKNOWN_JOB] = {"unknown-job", "job not found"},
	[OUTCOME_UNKNOWN_GROUP] = {"unknown-group", "task group not found"},
	[OUTCOME_NOT_DIRECT] = {"not-direct",
		"only jobs of type \"direct\" are placed instance by instance"},
	[OUTCOME_JOB_STOPPED] = {"job-stopped", "the job is stopped; register it again"},
	[OUTCOME_NO_NODE] = {"no-node", "no node can take it"},
	[OUTCOME_TOO_OLD] = {"too-old", "the request is too old"},
	[OUTCOME_CONFLICT] = {"conflict", "the job changed meanwhile"},
	[OUTCOME_UNKNOWN_ALLOCATION] = {"unknown-allocation", "alloc not found"},
	[OUTCOME_NODE_NOT_ALLOWED] = {"node-not-allowed",
		"the node is not allowed to update allocations in its status"},
	[OUTCOME_DRAINING] = {"draining",
		"can not set node's scheduling eligibility to eligible while it is draining"},
	[OUTCOME_REJECTED] = {"rejected",
		"Job registration is disabled by the scheduler configuration; an operator sets "
		"RejectJobRegistration to false to allow it"},
	[OUTCOME_UNKNOWN_DEPLOYMENT] = {"unknown-deployment", "deployment not found"},
	[OUTCOME_UNKNOWN_VERSION] = {"unknown-version", "the job has no such version"},
	[OUTCOME_TERMINAL] = {"terminal", "the deployment is at its end"},
	[OUTCOME_NOT_NOW] = {"not-now", "not in its present status"},
	[OUTCOME_UNKNOWN_VM] = {"unknown-vm", "VM not found"},
	[OUTCOME_UNKNOWN_WORKER] = {"unknown-worker", "worker not found"},
	[OUTCOME_TABLE_FULL] = {"table-full", "a table is full; stop and purge what is not needed, "
					      "or raise its limit in the configuration"},
	[OUTCOME_STORE_FULL] = {"store-full",
		"the disk of the store is full; nothing was changed; free some room and try again"},
	[OUTCOME_STOPPING] = {"stopping", "the controller is shutting down; nothing was changed"},
};
_Static_assert(sizeof command_outcomes / sizeof command_outcomes[0] == COMMAND_OUTCOMES,
	"every outcome has its row");
