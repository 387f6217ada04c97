// What a group looks at of node classes: two classes that say the same of all of that are the same to it.
#pragma once
#include "placement/direct/classes/class_looks.h"
#include "placement/scheduler/rules/rules.h"

// In order. What the group asks of volumes and of what is unique to nodes is not among it, and of networks only which
// modes they have (group_looks_at_networks). Caller frees.
struct look_bytes group_looks(const struct group_rules *);
// Whether the group looks at the modes of networks, and at nothing else of them.
bool group_looks_at_networks(const struct group_rules *);
