#include "state/command.h"

const char *const command_type_names[COMMAND_TYPES] = {
	[COMMAND_NODE_REGISTER] = "node-register",
	[COMMAND_NODE_EXPIRED] = "node-expired",
	[COMMAND_NODE_RETURNED] = "node-returned",
	[COMMAND_NODE_GOODBYE] = "node-goodbye",
	[COMMAND_PLACE] = "place",
	[COMMAND_RELEASE] = "release",
	[COMMAND_STATUS] = "status",
	[COMMAND_JOB_REGISTER] = "job-register",
	[COMMAND_JOB_DEREGISTER] = "job-deregister",
	[COMMAND_COLLECT] = "collect",
};

const char *const command_outcome_names[COMMAND_OUTCOMES] = {
	[OUTCOME_DONE] = "done",
	[OUTCOME_STALE_GENERATION] = "stale-generation",
	[OUTCOME_STALE_REGISTRATION] = "stale-registration",
	[OUTCOME_BAD_DESCRIPTION] = "bad-description",
	[OUTCOME_PART_STORED] = "part-stored",
	[OUTCOME_UNKNOWN_NODE] = "unknown-node",
	[OUTCOME_UNKNOWN_JOB] = "unknown-job",
	[OUTCOME_UNKNOWN_GROUP] = "unknown-group",
	[OUTCOME_NOT_DIRECT] = "not-direct",
	[OUTCOME_JOB_STOPPED] = "job-stopped",
	[OUTCOME_NO_NODE] = "no-node",
	[OUTCOME_TOO_OLD] = "too-old",
	[OUTCOME_CONFLICT] = "conflict",
	[OUTCOME_TABLE_FULL] = "table-full",
	[OUTCOME_STORE_FULL] = "store-full",
	[OUTCOME_STOPPING] = "stopping",
};
