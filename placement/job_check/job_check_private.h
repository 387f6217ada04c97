// What the files of job_check share: where in the job the check is, and what the job's type allows.
#pragma once
#include "placement/job_check/job_check.h"

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
};

struct checker {
	const struct job *job;
	uint32_t allowed; // enum job_part
	job_mistake *tell;
	void *context;
	uint32_t mistakes;
	const struct task_group *group; // NULL: of the job
	const struct task *task;        // NULL: of the group
};

void mistake(struct checker *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A part that this type of job may not have. Returns whether it may.
bool allow(struct checker *, enum job_part, const char *part);
// At least, in a sentence that names the field.
bool at_least(struct checker *, const char *field, int64_t value, int64_t least);
// One of names, NULL-ended.
bool one_of(struct checker *, const char *field, const char *value, const char *const *names);
// Present, printable and not too long.
bool named(struct checker *, const char *what, const char *name, uint32_t bytes_most);

// --- job_check_placement.c: where it may run -----------------------------------------------------
void check_constraints(struct checker *, const struct array *, bool of_device);
void check_affinities(struct checker *, const struct array *, bool of_device);
void check_spreads(struct checker *, const struct array *);
void check_networks(struct checker *, const struct array *);
void check_volumes(struct checker *, const struct array *);
// --- job_check_policy.c: how it is run -----------------------------------------------------------
void check_update(struct checker *, const struct update_strategy *);
void check_migrate(struct checker *, const struct migrate_strategy *);
void check_restart(struct checker *, const struct restart_policy *);
void check_reschedule(struct checker *, const struct reschedule_policy *);
void check_disconnect(struct checker *);
void check_periodic(struct checker *, const struct periodic_config *);
void check_parameterized(struct checker *, const struct parameterized_config *);
// --- job_check_task.c ----------------------------------------------------------------------------
void check_task(struct checker *);
void check_meta(struct checker *, const char *what, const struct array *);
