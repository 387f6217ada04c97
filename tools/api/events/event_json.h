// Writes a stream's events in Nomad's form, as far as a subscriber wants them.
#pragma once
#include "tools/api/events/event_log.h"
#include "tools/api/server/request.h"

struct event_wish {
	uint8_t topic; // EVENT_TOPICS: all
	char *key;     // NULL: all
};

struct event_filter {
	struct event_wish wishes[API_PARAMETERS_MAX];
	uint32_t count;                // 0: every event
	char *namespace_name;          // "*" is all
	const struct request *request; // whose token says what may be seen
	const struct api *api;         // its clock tells whether a worker is offline
};

// Reads ?topic=Job:web&namespace=…; false with a reply, also when the request may not see events of a topic. It must
// outlive the filter.
bool event_filter_read(const struct request *, struct event_filter *, struct reply *);
void event_filter_free(struct event_filter *);
// Whether the request may see events of all its topics.
bool event_filter_may(const struct event_filter *);
// Whether the filter may want events of this topic.
bool event_filter_has(const struct event_filter *, uint8_t topic);

// Writes the event as one object if the filter wants it. Shows the present record. A record that is gone is shown, as
// null, only by the event of its removal. Takes the read lock.
bool event_json(
	struct json_writer *, struct state *, const struct event_filter *, const struct event *);
