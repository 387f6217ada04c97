// The reference of the schedule benchmark: the least work of placing a system job on every node, done in the plainest
// way. Nodes have their attributes as texts, an allocation is one record, and nothing is written anywhere.
#pragma once
#include <stdint.h>

struct naive_fleet;

// 45 attributes each, as the nodes of bench/harness/fleet.h.
struct naive_fleet *naive_create(uint32_t nodes);
void naive_destroy(struct naive_fleet *);
// Places one instance of a job of 100 MHz and 64 MB on each node that has the driver, the datacenter and room: it sums
// anew what runs there, makes an id and a name, and puts the record on the lists of its node and its job. Returns how
// many were placed.
uint32_t naive_place(struct naive_fleet *, const char *job);
void naive_remove(struct naive_fleet *, const char *job);
