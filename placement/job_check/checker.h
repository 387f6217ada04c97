// The checker's place in a job, the parts that the job's type may have, and the sentences about mistakes.
#pragma once
#include "state/records/job.h"
#include <stdint.h>

enum job_part {
	PART_UPDATE = 1,
	PART_MIGRATE = 2,
	PART_RESCHEDULE = 4,
	PART_PERIODIC = 8, // and parameterized
	PART_RANKING = 16, // affinities and spreads
	PART_DISTINCT = 32,
	PART_STOP_AFTER_DISCONNECT = 64,
	PART_MAX_DISCONNECT = 128,
	PART_PER_ALLOC = 256,
	PART_PLACED_BY_NOMAD =
		512,      // networks, volumes, cores, multiregion: what only evaluations can place
	PART_TINY = 1024, // asks of nothing
	PART_DIRECT = 2048,
};

struct checker {
	const struct job *job;
	uint32_t allowed; // enum job_part
	void (*tell)(const char *text, void *context);
	void *context;
	uint32_t mistakes;
	const struct task_group *group; // NULL: of the job
	const struct task *task;        // NULL: of the group
};

void checker_mistake(struct checker *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
// Returns whether this type of job may have the part; tells a mistake if not.
bool checker_allow_part(struct checker *, enum job_part, const char *part);
// Checks value >= least; the sentence names the field.
bool checker_at_least(struct checker *, const char *field, int64_t value, int64_t least);
// Checks count <= most. Returns how many items the caller is to look at: the work on a list has its bound.
uint32_t checker_at_most(struct checker *, const char *what, uint32_t count, uint32_t most);
// Checks that value is one of names (NULL-ended).
bool checker_one_of(
	struct checker *, const char *field, const char *value, const char *const *names);
// Checks that the name is present, printable and not too long.
bool checker_name(struct checker *, const char *what, const char *name, uint32_t bytes_most);
