// Checks a plan's placements: no two living allocations of one name on one node, and no id twice, neither within the
// plan nor with what lives already.
#pragma once
#include "state/log/entry_plan.h"

struct plan_check;
struct plan_names; // keeps its memory from plan to plan
struct state;

struct plan_names *plan_names_create(void);
void plan_names_free(struct plan_names *); // NULL is allowed
// Rejects the nodes whose placements break this. node_at: by slot, index + 1 of the plan's node.
void plan_names_check(struct plan_names *, const struct state *, const struct entry_plan *,
	struct plan_check *, const uint32_t *node_at);
