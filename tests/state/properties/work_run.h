// Random commands about what schedulers do, and their answers against the model.
#pragma once
#include "state/base/prng.h"
#include "state/records/plan.h"
#include "state/records/scheduler_config.h"
#include "tests/state/properties/work_model.h"

// What a command needs beside itself, until the model was told.
struct work_command {
	bool is_one; // else the command is none of these
	uint32_t job, node, eval, allocation, incarnation;
	struct uuid id;
	int status;
	bool leaves_failed;
	int64_t priority;
	struct evaluation *evaluation;
	struct plan *plan;
	struct plan_result result;
	struct scheduler_config config;
	struct command_alloc_update update;
	struct alloc_update_item item;
};

struct work_run {
	struct prng *prng;
	struct model *model;
	struct work *work;
	uint64_t report_sequence;
	uint32_t name_index;
};

// One that fits a batch.
void work_make(struct work_run *, struct work_command *, struct command *);
// Tells the model and frees.
void work_tell(struct work_run *, struct work_command *, struct command *);
