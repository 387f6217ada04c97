// Senders of the wire by name. For state/ only; readers use state_sender().
#pragma once
#include "state/records/nodes/sender.h"
#include "state/tables/kind.h"

extern const struct kind sender_kind;

// The working record; NULL: nothing was said of the sender. Applier thread only.
const struct sender *sender_working(const struct state *, struct text name);
bool sender_node_is_revoked(const struct state *, const struct uuid *node);
