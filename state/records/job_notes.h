// What the state remembers of a job beside its versions: when it was scaled, and when it last launched a child.
// Immutable
// once published, shared by counted references; described in job_notes.c with Nomad's names.
#pragma once
#include "state/base/schema.h"
#include "state/base/uuid.h"
#include <stdatomic.h>

#define SCALING_EVENTS_MAX 20u // of a group; the oldest makes room

struct scaling_event {
	int64_t time_ns;
	struct optional_i64 count;
	int64_t previous_count;
	char *message;
	bool error;
	char *meta; // JSON object as text, NULL: none
	struct uuid eval_id;
	uint64_t create_index;
};
struct scaled_group { // FIELD_STRUCT_MAP
	char *group;
	struct array events; // scaling_event, newest first
};

struct job_notes {
	_Atomic uint32_t references; // not described
	int64_t launched_ns; // unix: what the newest periodic child was launched for; 0: none was
	struct array scaled; // scaled_group
};

extern const struct record_type job_notes_description, scaling_event_description;

struct job_notes *job_notes_copy(const struct job_notes *); // NULL: empty; one reference
struct job_notes *job_notes_share(struct job_notes *);      // NULL is fine
void job_notes_release(struct job_notes *);                 // NULL is fine
// One reference. Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; then there are none.
int job_notes_decode(struct job_notes **, struct bytes_reader *);
