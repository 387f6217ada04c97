// The life of simulated allocations; for running.c alone.
#pragma once
#include "tools/fleet/work/running.h"

// running.c: the node has something to send.
void running_enqueue(struct running *, uint32_t node);
// Of what it sends now.
struct wire_header running_header(const struct running *, uint32_t node);

const struct behaviour *running_behaviour(const struct running *, const struct running_alloc *);
// RUNNING_NONE: the node has none of that id.
uint32_t running_find(const struct running *, uint32_t node, const struct uuid *);
// What the controller wants of one of the node's machines.
void running_take_machine(struct running *, uint32_t node, const struct wire_vm_item *);
// What the controller wants of one of the node's.
void running_take_item(struct running *, uint32_t node, const struct wire_alloc_item *);
// Ended and acknowledged, or forgotten.
void running_let_go(struct running *, uint32_t *link);
void running_alloc_due(struct running *, uint32_t at);
// All of the node's are to be told again.
void running_report_all(struct running *, uint32_t node);

// running_vms.c: the machines of workers.
void running_create_workers(struct running *);
void running_destroy_workers(struct running *);
void running_look_at_workers(struct running *);
void running_worker_registered(struct running *, uint32_t node);
void running_worker_refused(struct running *, uint32_t node, bool is_machines);
bool running_wants_machines(const struct running *, uint32_t node);
uint32_t running_encode_machines_question(struct running *, uint32_t node, uint8_t *frame);
// 0: it knows what all of its machines are.
uint32_t running_encode_machine_question(struct running *, uint32_t node, uint8_t *frame);
void running_take_machines(struct running *, uint32_t node, const struct wire_vms_reply *);
void running_take_machine_piece(
	struct running *, uint32_t node, const struct wire_alloc_spec_reply *);

// running_probe.c: what its probe says. A heartbeat was answered.
void running_hear_probe(struct running *, uint32_t node);
uint32_t running_encode_readiness(struct running *, uint32_t node, uint8_t *frame);
void running_take_readiness(struct running *, uint32_t node);
uint32_t running_drawn_ms(struct running *, double most_s);
