// When the agent last heard the controller. A file keeps the time while some task may not run on without the
// controller, so that a restart of the agent gives such a task no more time.
#pragma once
#include "state/base/time_units.h"
#include <stdint.h>

// How long such tasks may run after the agent starts and finds no kept time.
#define CONTACT_GRACE_NS (50 * NS_PER_S)

struct contact {
	int fd;           // of the file; -1: the time cannot be kept
	int64_t heard_ns; // unix; 0: never
	int64_t opened_ns;
};

// Reads the time that a former agent kept.
void contact_open(struct contact *, const char *state_folder, int64_t now_ns);
void contact_close(struct contact *);
void contact_heard(struct contact *, int64_t now_ns);
// Writes the time to the file. 0, or -errno.
int contact_keep(const struct contact *);
// When a task must stop that may run stop_after_ns after the controller was last heard.
int64_t contact_lost_ns(const struct contact *, int64_t stop_after_ns);
