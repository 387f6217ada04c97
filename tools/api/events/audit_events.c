#include "tools/api/events/audit_events.h"
#include <stdio.h>

bool audit_events_are_wanted(const struct event_filter *filter)
{
	bool wanted = false;
	for (uint32_t i = 0; i < filter->count && !wanted; i++)
		wanted = filter->wishes[i].topic == TOPIC_AUDIT;
	return wanted;
}

static bool line_fits(const struct event_filter *filter, const char *who, const char *status)
{
	bool is_wanted = false;
	for (uint32_t i = 0; i < filter->count && !is_wanted; i++) {
		const struct event_wish *wish = &filter->wishes[i];
		is_wanted =
			wish->topic == TOPIC_AUDIT && (!wish->key || strcmp(wish->key, who) == 0 ||
							      strcmp(wish->key, status) == 0);
	}
	return is_wanted;
}

bool audit_event_json(
	struct json_writer *w, const struct event_filter *filter, const struct audit_note *note)
{
	char status[12];
	snprintf(status, sizeof status, "%u", note->status);
	if (!line_fits(filter, note->who, status))
		return false;
	json_begin_object(w);
	json_put_string(w, "Topic", event_topic_names[TOPIC_AUDIT]);
	json_put_string(w, "Type", event_type_names[EVENT_REQUEST_ENDED]);
	json_put_string(w, "Key", note->who);
	json_put_string(w, "Namespace", "");
	json_open_array(w, "FilterKeys");
	json_write_string(w, status);
	json_end_array(w);
	json_put_u64(w, "Index", note->index);
	json_open_object(w, "Payload");
	json_open_object(w, event_topic_names[TOPIC_AUDIT]);
	json_put_time(w, "Time", note->time_ns);
	json_put_string(w, "Who", note->who);
	json_put_string(w, "From", note->from);
	json_put_string(w, "Asked", note->asked);
	json_put_string(w, "Route", note->route);
	json_put_u64(w, "Status", note->status);
	json_end_object(w);
	json_end_object(w);
	json_end_object(w);
	return true;
}
