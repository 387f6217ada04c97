// What a group looks at of node classes: two classes that say the same of all of that are the same to it.
#pragma once
#include "placement/direct/classes/class_looks.h"
#include "placement/scheduler/rules/rules.h"

// In order. What the group asks of networks, of volumes and of what is unique to nodes is not among it. Caller frees.
struct look_bytes group_looks(const struct group_rules *);
