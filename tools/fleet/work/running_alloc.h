// The life of simulated allocations.
#pragma once
#include "tools/fleet/work/running_state.h"

// Does what the controller wants of a machine of the node.
void running_take_machine(struct running *, uint32_t node, const struct wire_vm_item *);
// Does what the controller wants of an allocation of the node.
void running_take_item(struct running *, uint32_t node, const struct wire_alloc_item *);
void running_alloc_due(struct running *, uint32_t at);
// Reports every allocation of the node again.
void running_report_all(struct running *, uint32_t node);
// The node broke: everything that is up there fails.
void running_broke(struct running *, uint32_t node);
