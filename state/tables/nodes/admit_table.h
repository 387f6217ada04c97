// Rules of admission by pattern, and the newest nodes that were refused. For state/ only; readers use state_next().
#pragma once
#include "state/records/nodes/admit_rule.h"
#include "state/tables/kind.h"

extern const struct kind admit_rule_kind, refused_node_kind;

// The working record; NULL: there is none. Applier thread only.
const struct admit_rule *admit_rule_working(const struct state *, struct text pattern);
const struct refused_node *refused_node_working(const struct state *, const struct uuid *);
