// What a job, or one of its groups with the tasks, needs of a node that is to run it, room and what runs there aside
// (rows A41–A51): the one check of it, for schedulers and for the placement of direct jobs.
#pragma once
#include "placement/feasibility/device_needs.h"
#include "placement/feasibility/rule_list.h"

struct node_needs {
	struct rule_list rules;
	struct device_needs devices; // of a group, as all that follows
	// Of a job whose instances the nodes run; those of a direct job are run by its clients.
	const char **drivers;
	uint32_t driver_count;
	const struct network_ask *network; // NULL: none
	const struct array *volumes;       // of struct volume_ask; NULL: none
	bool volumes_per_alloc; // which ones depends on the index in the allocation's name
};

// What a node lacks: the first in this order.
enum unmet_kind {
	UNMET_NONE,
	UNMET_DRIVER,
	UNMET_RULE,
	UNMET_DEVICE,
	UNMET_NETWORK,
	UNMET_PORT_TEMPLATE, // the node has no value for the name of a port's network
	UNMET_PORT_NETWORK,  // it has no network of that name
};

struct unmet_need {
	enum unmet_kind kind;
	uint32_t rule;           // which one
	const struct port *port; // which one
};

// The job must outlive its needs, which end with the memory; what their conditions hold beside it must be released
// before, when the job may be gone.
void node_needs_of_job(struct node_needs *, const struct job *, struct arena *memory);
void node_needs_of_group(
	struct node_needs *, const struct job *, uint32_t group, struct arena *memory);
void node_needs_release(struct node_needs *);

// Under read lock, or on the applier's thread. RULES_OF_CLASS leaves out what differs between nodes of a class, and a
// node that has nothing but its class will do if the group has no network; RULES_OF_NODE leaves out all but that.
struct unmet_need node_needs_unmet(const struct node_needs *, const struct node *, enum rule_scope);
// Whether the node has the volumes for the instance of this name_index.
bool node_needs_volumes_met(const struct node_needs *, const struct node *, uint32_t name_index);
