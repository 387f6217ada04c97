// What the store of the first version has, as its maker and the test that reads it know it.
#pragma once
#include "tests/support/controller.h"

#define FIRST_NODES 8u  // numbers 0 …; 4 is a worker of virtual machines, 7 was purged
#define FIRST_INDEX 71u // of the last change
#define FIRST_PROFILE "first-of-all"
#define FIRST_LIMITS                        \
	((struct state_limits){.nodes = 64, \
		.jobs = 32,                 \
		.allocations = 256,         \
		.place_requests = 64,       \
		.clients = 8,               \
		.evaluations = 256,         \
		.deployments = 16,          \
		.vms = 16,                  \
		.vm_workers = 16})
