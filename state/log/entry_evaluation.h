// Entries about evaluations and schedulers: their bodies, and what they do. The bytes are documented at
// the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct state;
struct evaluation;
struct scheduler_config;

// An evaluation is made, or becomes another. One that is complete and left nothing waiting cancels those
// of its job that are blocked; every one of them advances the index.
struct entry_evaluation {
	bool of_mark;                  // what the job was marked for is in it
	struct evaluation *evaluation; // taken over by apply, freed by entry_release otherwise
};

struct entry_scheduler_config {
	struct scheduler_config *config; // as above
};

// The most that one GC entry deletes.
#define GC_ITEMS_MAX 4096u
enum gc_kind { GC_ALLOCATION, GC_EVALUATION, GC_JOB, GC_DEPLOYMENT, GC_KINDS };

// Things that are past their time, chosen by who decided; of one kind.
struct entry_gc {
	uint8_t kind; // enum gc_kind
	uint32_t count;
	struct uuid *ids;    // of allocations, evaluations or deployments
	uint64_t *job_index; // of jobs: the modify index of their newest version
};

void entry_evaluation_encode(const struct entry_evaluation *, struct bytes_writer *);
int entry_evaluation_decode(struct entry_evaluation *, struct bytes_reader *);
void entry_scheduler_config_encode(const struct entry_scheduler_config *, struct bytes_writer *);
int entry_scheduler_config_decode(struct entry_scheduler_config *, struct bytes_reader *);
void entry_gc_encode(const struct entry_gc *, struct bytes_writer *);
int entry_gc_decode(struct entry_gc *, struct bytes_reader *);
void entry_gc_release(struct entry_gc *);

int evaluation_check(const struct state *, const struct entry_evaluation *);
void evaluation_apply(struct state *, struct entry_evaluation *);
int scheduler_config_check(const struct state *, const struct entry_scheduler_config *);
void scheduler_config_apply(struct state *, struct entry_scheduler_config *);
int gc_check(const struct state *, const struct entry_gc *);
void gc_apply(struct state *, struct entry_gc *);
