// What the node of a worker asks about its virtual machines, answered from the published state.
#pragma once
#include "dataplane/requests/request.h"

struct vm;

// Over the question; 0: it is malformed.
uint32_t vms_answer(struct packet_worker *, const struct hot_frame *, uint8_t *frame);
// That instance, while the node in that slot is the one that is to run it; else NULL.
const struct vm *vm_of_slot(
	const struct packet_worker *, uint32_t slot, const struct uuid *instance);
// Of what is to be done with it; never 0.
uint64_t vm_version(const struct vm *);
