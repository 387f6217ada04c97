// Lines of the audit log as events of the topic Audit. They are no changes of the state: whoever wants them names the
// topic.
#pragma once
#include "tools/api/audit/audit_ring.h"
#include "tools/api/events/event_json.h"

// Whether the filter names the topic.
bool audit_events_are_wanted(const struct event_filter *);
// Writes the line as one object if the filter wants it. Its key is who asked, its filter key the status.
bool audit_event_json(struct json_writer *, const struct event_filter *, const struct audit_note *);
