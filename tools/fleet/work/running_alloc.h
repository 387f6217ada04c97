// The life of simulated allocations.
#pragma once
#include "tools/fleet/work/running_state.h"

// Does what the controller wants of one of the node's machines.
void running_take_machine(struct running *, uint32_t node, const struct wire_vm_item *);
// Does what the controller wants of one of the node's allocations.
void running_take_item(struct running *, uint32_t node, const struct wire_alloc_item *);
void running_alloc_due(struct running *, uint32_t at);
// Every allocation of the node is to be reported again.
void running_report_all(struct running *, uint32_t node);
// The node broke: what is up there fails.
void running_broke(struct running *, uint32_t node);
