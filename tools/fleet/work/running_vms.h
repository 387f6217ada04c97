// Machines of the simulated workers.
#pragma once
#include "tools/fleet/work/running_state.h"

void running_create_vm_workers(struct running *);
void running_destroy_vm_workers(struct running *);
void running_look_at_vm_workers(struct running *);
void running_vm_worker_registered(struct running *, uint32_t node);
void running_vm_worker_refused(struct running *, uint32_t node, bool is_machines);
bool running_wants_machines(const struct running *, uint32_t node);
uint32_t running_encode_machines_question(struct running *, uint32_t node, uint8_t *frame);
// 0: the node knows the descriptions of all of its machines.
uint32_t running_encode_machine_question(struct running *, uint32_t node, uint8_t *frame);
void running_take_machines(struct running *, uint32_t node, const struct wire_vms_reply *);
void running_take_machine_piece(
	struct running *, uint32_t node, const struct wire_alloc_spec_reply *);
uint32_t running_machines_up(const struct running *);
