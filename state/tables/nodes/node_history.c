// What lies right behind a node's struct: its events, its last drain with metadata, and its drain.
#include "state/tables/nodes/node_history.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/tables/tables.h"

const struct node_message_text node_messages[NODE_MESSAGES] = {
	[NODE_REGISTERED] = {"Node registered", "Cluster"},
	[NODE_RE_REGISTERED] = {"Node re-registered", "Cluster"},
	[NODE_REREGISTERED_BY_HEARTBEAT] = {"Node reregistered by heartbeat", "Cluster"},
	[NODE_HEARTBEAT_MISSED] = {"Node heartbeat missed", "Cluster"},
	[NODE_MARKED_ELIGIBLE] = {"Node marked as eligible for scheduling", "Cluster"},
	[NODE_MARKED_INELIGIBLE] = {"Node marked as ineligible for scheduling", "Cluster"},
	[NODE_DRAIN_SET] = {"Node drain strategy set", "Drain"},
	[NODE_DRAIN_UPDATED] = {"Node drain strategy updated", "Drain"},
	[NODE_DRAIN_DISABLED] = {"Node drain disabled", "Drain"},
	[NODE_DRAIN_COMPLETE] = {"Node drain complete", "Drain"},
	[NODE_REJECTED_PLANS] = {"Node marked as ineligible for scheduling due to multiple plan "
				 "rejections, see the server's log",
		"Scheduler"},
	[NODE_SAID_GOODBYE] = {"Node said goodbye", "Cluster"},
	[NODE_DRAIN_DEADLINE] = {"Node drain complete", "Drain", "deadline_reached", "true"},
	[NODE_KEY_REVOKED] = {"Node key revoked", "Cluster"},
	[NODE_NOT_ADMITTED] = {"Node marked as ineligible for scheduling: it is not admitted with "
			       "what it claims to be",
		"Cluster"},
};

const char *const last_drain_status_names[] = {"draining", "complete", "canceled", NULL};

struct node_history node_history_of(const struct node *n)
{
	struct node_history history = {0};

	if (n) {
		history.count = n->event_count;
		memcpy(history.events, node_events(n), n->event_count * sizeof history.events[0]);
		history.drain = n->drain;
		history.last_drain = node_last_drain(n);
	}
	CHECK(history.count <= NODE_EVENTS_MAX);
	return history;
}

void node_history_add(
	struct node_history *history, enum node_message message, int64_t time_ns, uint64_t index)
{
	CHECK(history->count <= NODE_EVENTS_MAX && message < NODE_MESSAGES);
	if (history->count == NODE_EVENTS_MAX)
		memmove(history->events, history->events + 1,
			--history->count * sizeof history->events[0]);
	history->events[history->count++] = (struct node_event){.message = (uint8_t)message,
		.timestamp_s = (uint32_t)(time_ns / NS_PER_S),
		.create_index = index};
	CHECK(history->count > 0);
}

static size_t meta_bytes(const struct last_drain *last)
{
	size_t bytes = last->meta_count * sizeof last->meta[0], characters = 0;

	for (uint32_t i = 0; i < last->meta_count; i++)
		characters += strlen(last->meta[i].name) + strlen(last->meta[i].value) + 2;
	return bytes + (characters + 7) / 8 * 8; // structs follow
}

size_t node_history_bytes(const struct node_history *history)
{
	CHECK(history->count <= NODE_EVENTS_MAX);
	return history->count * sizeof history->events[0] +
	       (history->drain ? sizeof *history->drain : 0) +
	       (history->last_drain ? sizeof *history->last_drain + meta_bytes(history->last_drain)
				    : 0);
}

static const char *place_string(char **characters, const char *string)
{
	size_t size = strlen(string) + 1;
	char *at = *characters;

	memcpy(at, string, size);
	*characters += size;
	return at;
}

static void place_last_drain(struct last_drain *to, const struct last_drain *from)
{
	struct attribute *meta = (struct attribute *)(to + 1);
	char *characters = (char *)(meta + from->meta_count);

	*to = *from;
	to->meta = meta;
	for (uint32_t i = 0; i < from->meta_count; i++) {
		meta[i].name = place_string(&characters, from->meta[i].name);
		meta[i].value = place_string(&characters, from->meta[i].value);
	}
	CHECK(characters >= (char *)(meta + from->meta_count));
}

void node_history_place(struct node *n, const struct node_history *history)
{
	struct node_event *events = (struct node_event *)(n + 1);
	char *at = (char *)(events + history->count);

	memcpy(events, history->events, history->count * sizeof events[0]);
	n->event_count = (uint8_t)history->count;
	n->was_drained = history->last_drain != NULL;
	n->drain = NULL;
	if (history->last_drain) {
		place_last_drain((struct last_drain *)at, history->last_drain);
		at += sizeof *history->last_drain + meta_bytes(history->last_drain);
	}
	if (history->drain)
		n->drain = memcpy(at, history->drain, sizeof *history->drain);
	CHECK(n->event_count == history->count);
	CHECK(!n->drain == !history->drain && !node_last_drain(n) == !history->last_drain);
}
