// Entries of jobs: bodies of entries as entry.h tells. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/text.h"
#include "state/log/coder.h"
#include <stdbool.h>
#include <stdint.h>

struct job;
struct scaling_event;

struct entry_job_register {
	struct job *job; // taken over by apply, freed by entry_release otherwise
};

enum stop_everywhere { // stored; of a stop that is no purge
	STOP_HERE,
	STOP_EVERYWHERE,  // other regions are told of it
	PURGE_EVERYWHERE, // and are to forget it
	STOP_EVERYWHERES,
};
struct entry_job_deregister {
	struct text namespace_name, id;
	bool purge;
	uint8_t everywhere;    // enum stop_everywhere
	int64_t eval_priority; // that other regions are told of; 0: the job's
};

struct entry_job_stable {
	struct text namespace_name, id;
	uint64_t version;
	bool stable;
};

// A note about a job (job_notes.h): a launch, or that a group was scaled.
struct entry_job_note {
	struct text namespace_name, id;
	int64_t launched_ns; // 0: it was scaled
	struct text group;
	struct scaling_event *event; // taken over by apply, freed by entry_release otherwise
};

extern const struct record_type entry_job_deregister_description, entry_job_stable_description;
coder_function entry_job_register_code, entry_job_note_code;
void entry_job_register_release(void *body);
void entry_job_note_release(void *body);
