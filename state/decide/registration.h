// Node descriptions before they become state: what is allowed in one, and putting those together
// that arrive in several parts. Applier thread only.
#pragma once
#include "state/log/command.h"

// The rules: limits, printable texts, a pool that may be registered in, pairs and device groups
// sorted and each once.
bool node_description_is_sound(const struct command_node_register *);
// Fills what was left open (pool "default", datacenter "dc1"), sorts. False when it then breaks a
// rule.
bool node_description_complete(struct command_node_register *);

// Pairs and device groups into their order.
void node_description_sort(struct command_node_register *);

struct registrations;

struct registrations *registrations_create(void); // caller destroys
void registrations_destroy(struct registrations *);

// Adds one part. OUTCOME_DONE: the last one; whole is the description put together, its texts are
// views that stay valid until registrations_forget (or are the part's own, when there is one part
// only). OUTCOME_PART_STORED, OUTCOME_BAD_DESCRIPTION, or OUTCOME_STALE_REGISTRATION with *newest
// set.
enum command_outcome registrations_add(struct registrations *,
	const struct command_node_register *part, struct command_node_register *whole,
	uint64_t *newest);
void registrations_forget(struct registrations *, const struct uuid *);
