// Entries about a job that make no other version of it: their bodies, and what they do. The bytes are documented at
// the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include <stdbool.h>
#include <stdint.h>

struct state;
struct scaling_event;

struct entry_job_stable {
	struct text namespace_name, id;
	uint64_t version;
	bool stable;
};

// What is remembered of it (job_notes.h): a launch, or that a group was scaled.
struct entry_job_note {
	struct text namespace_name, id;
	int64_t launched_ns; // 0: it was scaled
	struct text group;
	struct scaling_event *event; // taken over by apply, freed by entry_release otherwise
};

void entry_job_stable_encode(const struct entry_job_stable *, struct bytes_writer *);
int entry_job_stable_decode(struct entry_job_stable *, struct bytes_reader *);
void entry_job_note_encode(const struct entry_job_note *, struct bytes_writer *);
int entry_job_note_decode(struct entry_job_note *, struct bytes_reader *);
void entry_job_note_release(struct entry_job_note *);

int job_stable_check(const struct state *, const struct entry_job_stable *);
void job_stable_apply(struct state *, const struct entry_job_stable *);
int job_note_check(const struct state *, const struct entry_job_note *);
void job_note_apply(struct state *, struct entry_job_note *);
