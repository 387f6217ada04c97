// POST to the events of a machine: what its worker tells of it, such as the lines that its startup script writes.
#include "state/base/limits.h"
#include "state/base/time_units.h"
#include "state/records/nodes/vm_events.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"

#define EVENT_KIND "log_line" // of an event that says none
// Of one event; the rest of a longer line is cut off.
#define PAYLOAD_BYTES_MAX 4000u

static bool event_is_fit(json_t *event, size_t number, struct reply *reply)
{
	json_t *kind = json_object_get(event, "kind"), *time = json_object_get(event, "timestamp");
	json_t *payload = json_object_get(event, "payload");

	if (!json_is_object(event))
		reply_mistake(reply, "events[%zu]: expected an object", number);
	else if (kind &&
		 (!json_is_string(kind) || json_string_length(kind) > CLIENT_NAME_BYTES_MAX ||
			 !text_is_printable(text_of(json_string_value(kind)))))
		reply_mistake(reply, "events[%zu].kind: expected a name of at most %u bytes",
			number, CLIENT_NAME_BYTES_MAX);
	else if (time && (!json_is_integer(time) || json_integer_value(time) < 0 ||
				 json_integer_value(time) > INT64_MAX / NS_PER_S))
		reply_mistake(reply, "events[%zu].timestamp: expected seconds since 1970", number);
	else if (payload && !json_is_string(payload))
		reply_mistake(reply, "events[%zu].payload: expected a string", number);
	return !reply->status;
}

static bool events_are_fit(json_t *events, struct reply *reply)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event) if (!event_is_fit(event, i, reply)) return false;
	return true;
}

// At most so many bytes, cut between two characters.
static struct text cut_payload(const char *payload)
{
	struct text text = text_of(payload);

	if (text.size <= PAYLOAD_BYTES_MAX)
		return text;
	text.size = PAYLOAD_BYTES_MAX;
	while (text.size > 0 && ((uint8_t)text.data[text.size] & 0xc0) == 0x80)
		text.size--;
	return text;
}

static void pack_event(struct bytes_writer *w, json_t *event, int64_t now_ns)
{
	const char *kind = json_string_value(json_object_get(event, "kind"));
	const char *payload = json_string_value(json_object_get(event, "payload"));
	json_t *time = json_object_get(event, "timestamp");
	const struct vm_told told = {
		.time_ns = time ? json_integer_value(time) * NS_PER_S : now_ns,
		.kind = text_of(kind && *kind ? kind : EVENT_KIND),
		.message = cut_payload(payload ? payload : ""),
	};

	vm_told_put(w, &told);
}

// Of more than are kept only the newest are stored.
static struct text pack_events(struct request *request, json_t *events)
{
	struct bytes_writer w = bytes_writer_growing(4096);
	int64_t now_ns = (int64_t)time_wall_ns(request->api->settings.time);
	size_t count = json_array_size(events), bytes = 0, first = count;

	while (first > 0 && count - first < VM_TOLD_MAX && bytes < VM_TOLD_BYTES_MAX) {
		json_t *event = json_array_get(events, --first);
		bytes += json_string_length(json_object_get(event, "payload"));
	}
	for (size_t i = first; i < count; i++)
		pack_event(&w, json_array_get(events, i), now_ns);
	char *kept = submission_take(request, w.size + 1);
	memcpy(kept, w.data, w.size);
	struct text told = {kept, (uint32_t)w.size};
	bytes_writer_free(&w);
	return told;
}

void vm_events_add(struct request *request, struct reply *reply)
{
	json_t *events = body_read_list(request, reply);

	if (events && events_are_fit(events, reply)) {
		struct command *command = submission_one(request, COMMAND_VM_TELL, NULL);
		command->vm_tell =
			(struct command_vm_tell){.name = command_text(request, request->ids[0]),
				.told = pack_events(request, events)};
	}
	json_decref(events);
}
