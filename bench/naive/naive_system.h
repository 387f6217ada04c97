// What placing a system job on every node takes at the least, done in the plainest way: the reference of the schedule
// benchmark. Nodes with their attributes as texts, one record per allocation, nothing written anywhere.
#pragma once
#include <stdint.h>

struct naive_fleet;

// 45 attributes each, as the nodes of bench/harness/fleet.h.
struct naive_fleet *naive_create(uint32_t nodes);
void naive_destroy(struct naive_fleet *);
// One instance of a job of 100 MHz and 64 MB on each node that has the driver, the datacenter and room: the sum of
// what runs there is taken anew, an id and a name are made, the record is put on the lists of its node and its job.
// Returns how many were placed.
uint32_t naive_place(struct naive_fleet *, const char *job);
void naive_remove(struct naive_fleet *, const char *job);
