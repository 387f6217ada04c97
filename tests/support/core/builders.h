// Plain jobs and nodes, to which a test adds what it needs.
#pragma once
#include "state/log/command.h"
#include "state/records/job.h"

struct uuid number_uuid(uint32_t number);
// A registration in one part of node `number`: 4000 MHz, 8192 MB, 100000 MB of disk, in dc1, without pairs.
void describe_plain_node(struct node_registration *, uint32_t number, uint64_t sequence);

// A job in the namespace default, without groups, not derived. Caller frees.
struct job *plain_job(const char *id, int type);
// Adds a group with one task "t", which asks for cpu and memory; the group asks for the disk. The job owns it.
struct task *add_plain_group(struct job *, const char *name, struct resources asked);
