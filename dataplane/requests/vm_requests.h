// Questions of a VM worker's node about its virtual machines, answered from the published state.
#pragma once
#include "dataplane/requests/request.h"

struct vm;

// Writes the answer over the question. Returns its length; 0: the question is malformed.
uint32_t vms_answer(struct packet_worker *, const struct hot_frame *, uint8_t *frame);
// The virtual machine of an instance, if the node in the slot is to run it; else NULL.
const struct vm *vm_of_slot(
	const struct packet_worker *, uint32_t slot, const struct uuid *instance);
// The version of what the node is to do with the virtual machine; never 0.
uint64_t vm_version(const struct vm *);
