// From commands to entries. A decider looks at the working state, chooses everything that is to be
// chosen, and commits entries to the batch that is open; the answers go into the command. Applier
// thread only.
#pragma once
#include "state/applier.h"
#include "state/apply.h"
#include "state/registration.h"

// Changes that are made durable, published and acknowledged together.
struct batch {
	struct bytes_writer bytes; // header, entries
	struct batch_header header;
	struct change_list changes;
	struct summary summary; // of the state after it
	uint32_t command_count;
	struct command *commands[BATCH_COMMANDS_MAX];
};

struct decider {
	struct state *state;
	const struct placer *placer;
	struct batch *batch;
	struct prng prng;
	struct registrations *registrations;
	int64_t now_ns; // unix
	int64_t collect_after_ms;
	bool store_is_full;                 // nothing that grows is accepted
	bool is_collecting;                 // the last COLLECT left something
	uint32_t open_block[WORKERS_MAX];   // the block that each worker's next slot comes from
	struct command_node_register whole; // scratch
	struct applier_counters *counters;
};

#define NO_BLOCK 0xffffffffu

// Decides one command: sets its outcome, index and results.
void decide(struct decider *, struct command *);
// Checks, encodes and applies. The entry is taken over when 0 is returned; otherwise nothing
// happened.
int decider_commit(struct decider *, struct entry *);
// One COLLECT entry, if there is anything to collect.
void decider_collect(struct decider *);
// Finds the blocks that have room; after recovery.
void decider_open_blocks(struct decider *);

enum command_outcome decide_node_register(struct decider *, struct command_node_register *);
enum command_outcome decide_node_status(
	struct decider *, const struct command_node *, enum node_status_cause);
enum command_outcome decide_place(struct decider *, struct command_place *, uint64_t *index);
enum command_outcome decide_release(struct decider *, struct command_release *);
enum command_outcome decide_status(struct decider *, struct command_status *);
enum command_outcome decide_job_register(
	struct decider *, struct command_job_register *, uint64_t *index);
enum command_outcome decide_job_deregister(struct decider *, const struct command_job_deregister *);
