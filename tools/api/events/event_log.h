// The newest changes of the state, in a ring: the source of event streams. The applier writes and waits for no reader;
// events that a slow reader wanted may be overwritten. An event only names its record; the writer of a line reads the
// record.
#pragma once
#include "state/tables/state.h"
#include "tools/api/events/event_types.h"

#define EVENT_LOG_EVENTS (1u << 18)
// Names of jobs, and of virtual machines, their workers, node pools, policies and senders, that the log holds; each
// change of one takes a place.
#define EVENT_LOG_JOBS (1u << 13)
#define EVENT_LOG_MACHINES (1u << 16)

struct event {
	uint64_t index; // of the state
	uint8_t topic, type;
	struct uuid id; // of a node, evaluation, allocation, deployment, token or role
	char namespace_name[NAME_BYTES_MAX + 1]; // of a job
	// Of a job (its id), or of what event_has_name(); "" when the log has forgotten it.
	char name[NAME_BYTES_MAX + 1];
};

// Whether the event is about something that has one name instead of an id.
static inline bool event_has_name(const struct event *event)
{
	uint8_t topic = event->topic;
	return topic == TOPIC_VM || topic == TOPIC_VM_WORKER || topic == TOPIC_NODE_POOL ||
	       topic == TOPIC_ACL_POLICY || topic == TOPIC_SENDER;
}

static inline bool event_has_lost_its_name(const struct event *event)
{
	return !event->name[0] && (event->topic == TOPIC_JOB || event_has_name(event));
}

struct event_log;

// NULL: no descriptor is left.
struct event_log *event_log_create(void);
void event_log_destroy(struct event_log *); // after the last reader and the applier
// Give it to state_observe().
struct state_observer *event_log_observer(struct event_log *);
// Adds that the expiry of nodes is held, or goes on, which is no change of the state. state_index: of the event if the
// log is empty; else it has that of the newest. Any thread.
void event_log_expiry(struct event_log *, bool is_held, uint64_t state_index);

// Any thread. Events are numbered from 0; the log holds events before head, at least the newest EVENT_LOG_EVENTS - 1.
uint64_t event_log_head(const struct event_log *);
// False when the log does not hold the event (any more).
bool event_log_read(const struct event_log *, uint64_t number, struct event *);
// Number of the first event that the log holds with at least this index.
uint64_t event_log_find(const struct event_log *, uint64_t index);
// An eventfd that becomes readable when events come while somebody listens.
int event_log_fd(const struct event_log *);
void event_log_listen(struct event_log *, bool on);
