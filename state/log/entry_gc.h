// The entry that deletes what is past its time or not wanted any more: the body of an entry as entry.h tells. The bytes
// are documented at the top of entry.c.
#pragma once
#include "state/log/coder.h"

// The most that one GC entry deletes.
#define GC_ITEMS_MAX 4096u
// GC_EVALUATION_ALIVE: also one that is not at its end; an operator wants it gone.
enum gc_kind {
	GC_ALLOCATION,
	GC_EVALUATION,
	GC_JOB,
	GC_DEPLOYMENT,
	GC_EVALUATION_ALIVE,
	GC_ACL_TOKEN,
	GC_KINDS
};

// Items of one kind that the decider found past their time, or that an operator named.
struct entry_gc {
	uint8_t kind; // enum gc_kind
	uint32_t count;
	struct uuid *ids;    // of allocations, evaluations or deployments
	uint64_t *job_index; // of jobs: the modify index of their newest version
};

coder_function entry_gc_code;
void entry_gc_release(void *body);
