// Events of a stream as Nomad has them, and what a subscriber wants of them.
#pragma once
#include "tools/api/events/event_log.h"
#include "tools/api/server/request.h"

struct event_wish {
	uint8_t topic; // EVENT_TOPICS: all
	char *key;     // NULL: all
};

struct event_filter {
	struct event_wish wishes[API_PARAMETERS_MAX];
	uint32_t count;        // 0: everything
	char *namespace_name;  // "*" is all
	const struct api *api; // its clock says whether a worker is offline
};

// ?topic=Job:web&namespace=…; false with a reply.
bool event_filter_read(const struct request *, struct event_filter *, struct reply *);
void event_filter_free(struct event_filter *);
// The filter may want some events of this topic.
bool event_filter_has(const struct event_filter *, uint8_t topic);

// Writes the event as one object when the filter lets it through. The record is shown as it is now; one that is gone
// is shown, as null, only when the event is that it went. Takes the read lock.
bool event_json(
	struct json_writer *, struct state *, const struct event_filter *, const struct event *);
