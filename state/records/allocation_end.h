// How an allocation comes to its end, and the texts that say so. Records and snapshots keep their numbers.
#pragma once
#include "state/records/allocation.h"

// How a living allocation comes to its end, and what is said of its state at the client. Both are
// stored in snapshots: numbers are never given again.
enum end_cause {
	END_NONE, // desired run
	END_NODE_DOWN,
	END_DEVICES_GONE,
	END_JOB_STOPPED,
	END_RELEASED,
	END_UPDATING,
	END_MIGRATING,
	END_NODE_TAINTED,
	END_RESCHEDULED,
	END_RECONNECTED,
	END_PREEMPTED,
	END_CAUSES,
};
enum client_text {
	CLIENT_TEXT_NONE,
	CLIENT_TEXT_NODE_DOWN,
	CLIENT_TEXT_DEVICES_GONE,
	CLIENT_TEXT_RELEASED,
	CLIENT_TEXT_DISCONNECTED,
	CLIENT_TEXTS,
};
enum end_cause end_cause_of_stop(uint8_t stop_cause); // enum stop_cause
const char *end_cause_text(enum end_cause);
void allocation_describe(struct allocation *, enum end_cause, enum client_text);
struct allocation *allocation_create(void); // zeros
// Of one that nobody else has; the set is copied. Zeros are none.
void allocation_set_devices(struct allocation *, const struct device_set *);
// Frees a record that nobody reads any more, and gives its references back. Any thread.
void allocation_free(struct allocation *);
