// Routes about virtual machines and their workers, like Orchard's.
#pragma once
#include "tools/api/server/route.h"

#define ORCHARD_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                    \
	READ("/v1/", controller_greet)                                               \
	READ("/v1/controller/info", controller_info)                                 \
	TABLE("/v1/vms", vms_list, STATE_VMS)                                        \
	WRITE("PUT", "/v1/vms", vm_add, vm_added)                                    \
	WATCH("/v1/vms/:id", vm_read, vm_watched)                                    \
	WRITE("PUT", "/v1/vms/:id", vm_change, vm_changed)                           \
	WRITE("DELETE", "/v1/vms/:id", vm_remove, outcome_answer)                    \
	WATCH("/v1/vms/:id/events", vm_events_read, vm_watched)                      \
	WRITE("PUT", "/v1/vms/:id/events", vm_events_add, outcome_answer)            \
	WRITE("PUT", "/v1/vms/:id/state", vm_report, vm_reported)                    \
	LIST("/v1/workers", vm_worker_list)                                          \
	WRITE("PUT", "/v1/workers", vm_worker_register, vm_worker_registered)        \
	WATCH("/v1/workers/:id", vm_worker_read, vm_worker_watched)                  \
	WRITE("PUT", "/v1/workers/:id", vm_worker_change, vm_worker_changed)         \
	WRITE("DELETE", "/v1/workers/:id", vm_worker_remove, outcome_answer)         \
	TABLE("/v1/cluster-settings", cluster_settings_read, STATE_CLUSTER_SETTINGS) \
	WRITE("PUT", "/v1/cluster-settings", cluster_settings_set, cluster_settings_were_set)

ROUTES_DECLARE(ORCHARD_ROUTES)
