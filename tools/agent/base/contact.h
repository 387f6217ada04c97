// When the controller was last heard. Kept in a file while it matters, so that tasks which are not to run on without
// it do not gain time because their agent was started anew.
#pragma once
#include "state/base/time_units.h"
#include <stdint.h>

// How long such tasks may run after a start at which nothing is remembered of the controller.
#define CONTACT_GRACE_NS (50 * NS_PER_S)

struct contact {
	int fd;           // of the file; -1: it cannot be kept
	int64_t heard_ns; // unix; 0: never
	int64_t opened_ns;
};

// Reads what a former agent kept.
void contact_open(struct contact *, const char *state_folder, int64_t now_ns);
void contact_close(struct contact *);
void contact_heard(struct contact *, int64_t now_ns);
// Writes it down. 0, or -errno.
int contact_keep(const struct contact *);
// When a task must stop that may run for so long after the controller was last heard.
int64_t contact_lost_ns(const struct contact *, int64_t stop_after_ns);
