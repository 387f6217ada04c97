// A small world for tests of schedulers: nodes, jobs and allocations made from a few words each, and a
// scheduler_view over them. No state, no applier.
#pragma once
#include "placement/scheduler/common/view.h"

#define WORLD_NODES_MAX (1u << 20)

struct world_allocation {
	struct allocation record; // first
	struct world_allocation *next_of_node, *next;
};

struct world {
	uint64_t index; // of the newest record
	struct scheduler_config config;
	const struct node_pool *pool; // the one that is described; NULL: none is
	uint32_t node_count;
	struct node **nodes; // by slot; NULL: purged
	struct world_allocation **of_node;
	struct resources *machines; // by slot: what virtual machines hold
	uint32_t job_count;
	struct job **jobs;                                       // every version, oldest first
	struct world_allocation *allocations, **allocations_end; // in order of creation
	uint32_t allocation_count;
	struct deployment **deployments; // oldest first
	uint32_t deployment_count;
	// Fault: after so many reads of slots all nodes are forgotten; 0: never.
	uint32_t looks_left;
	bool is_deserted;
	uint64_t forgotten_version; // of jobs; 0: none
	// Owned memory.
	struct world_class *classes;
	void **kept;
	uint32_t kept_count, kept_capacity;
};

struct world *world_create(void); // binpack, preemption for system jobs alone
void world_destroy(struct world *);
struct scheduler_view world_view(struct world *);

// A node in the next slot, ready and eligible. Words, each optional and divided by blanks:
//   id=<uuid> name=n dc=dc1 class=large pool=default cpu=4000 memory=8192 disk=50000 reserved=<cpu>/<memory>/<disk>
//   attr.<name>=<value> meta.<name>=<value> driver.<name>=1|0 device.<vendor>/<type>/<name>=<instances>
//   device-attr.<name>=<value> (of the device group before) volume.<name>=<path>[:ro]
//   net=<mode>/<device>/<alias>/<address>[/<reserved ports>] ports=<reserved on every address> dynamic=<least>-<most>
//   cores=0-7 snapshot=<that it ran last> status=down ineligible draining no-driver no-net
// Without net it has host/eth0/default/10.x.y.z; without no-driver the driver exec is healthy.
struct node *world_node(struct world *, const char *words);
// Purges the node of the slot; its allocations stay.
void world_purge(struct world *, uint32_t slot);

// A new job, registered, with one group "a" of one task "t":
//   <type> <id> priority=50 dc=dc1 pool=default count=1 cpu=100 memory=64 disk=0 driver=exec name=<id>
// Use tests/placement/job_check/job_build.h to add to it, then world_job_changed().
struct job *world_job(struct world *, const char *words);
// The next version of a job, equal to the newest but for its indexes.
struct job *world_job_version(struct world *, const struct job *);
// The world owns the deployment from now on, and replaces one with the same id.
void world_deploy(struct world *, struct deployment *);
// Derives the fields that depend on a job's other fields.
void world_job_changed(struct job *);

// Makes a running allocation of the group with this number in its name.
struct allocation *world_allocate(
	struct world *, struct job *, uint32_t group, uint32_t slot, uint32_t index);
// Gives it a static port of the group (and details if it has none).
void world_hold_port(struct allocation *, const char *label, int64_t port, const char *address);
void world_hold_cores(struct allocation *, const char *task, int64_t first, int64_t count);
