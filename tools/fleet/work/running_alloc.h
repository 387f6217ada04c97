// The life of simulated allocations.
#pragma once
#include "tools/fleet/work/running_state.h"

// What the controller wants of one of the node's machines.
void running_take_machine(struct running *, uint32_t node, const struct wire_vm_item *);
// What the controller wants of one of the node's.
void running_take_item(struct running *, uint32_t node, const struct wire_alloc_item *);
void running_alloc_due(struct running *, uint32_t at);
// All of the node's are to be told again.
void running_report_all(struct running *, uint32_t node);
// Its infrastructure broke: what is up there fails.
void running_broke(struct running *, uint32_t node);
