// Joins descriptions of nodes that arrive in several parts. Applier thread only.
#pragma once
#include "state/log/command.h"

struct registrations;

struct registrations *registrations_create(void); // caller destroys
void registrations_destroy(struct registrations *);

// Adds one part. OUTCOME_DONE: it was the last; whole is the joined description, its texts are views that stay valid
// until registrations_forget (with a single part, they are that part's own). OUTCOME_PART_STORED,
// OUTCOME_BAD_DESCRIPTION, or OUTCOME_STALE_REGISTRATION with *newest set.
enum command_outcome registrations_add(struct registrations *, const struct node_registration *part,
	struct node_registration *whole, uint64_t *newest);
void registrations_forget(struct registrations *, const struct uuid *);
