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
	const struct api *api; // whose clock says whether a worker is offline
};

// ?topic=Job:web&namespace=…; false with a reply.
bool event_filter_read(const struct request *, struct event_filter *, struct reply *);
void event_filter_free(struct event_filter *);
// Some events of this topic may be wanted.
bool event_filter_has(const struct event_filter *, uint8_t topic);

// Writes the event as one object when the filter lets it through. The thing is shown as it is now;
// what is gone by now is shown only when its going is the event. Takes the read lock.
bool event_json(
	struct json_writer *, struct state *, const struct event_filter *, const struct event *);
