// The life of simulated allocations; for running.c alone.
#pragma once
#include "tools/fleet/running.h"

// running.c: the node has something to send.
void running_enqueue(struct running *, uint32_t node);
// Of what it sends now.
struct wire_header running_header(const struct running *, uint32_t node);

const struct behaviour *running_behaviour(const struct running *, const struct running_alloc *);
// RUNNING_NONE: the node has none of that id.
uint32_t running_find(const struct running *, uint32_t node, const struct uuid *);
// What the controller wants of one of the node's.
void running_take_item(struct running *, uint32_t node, const struct wire_alloc_item *);
// Ended and acknowledged, or forgotten.
void running_let_go(struct running *, uint32_t *link);
void running_alloc_due(struct running *, uint32_t at);
// All of the node's are to be told again.
void running_report_all(struct running *, uint32_t node);

// running_probe.c: what its probe says. A heartbeat was answered.
void running_hear_probe(struct running *, uint32_t node);
uint32_t running_encode_readiness(struct running *, uint32_t node, uint8_t *frame);
void running_take_readiness(struct running *, uint32_t node);
uint32_t running_drawn_ms(struct running *, double most_s);
