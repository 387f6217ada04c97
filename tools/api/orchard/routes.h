// Routes about virtual machines and their workers, like Orchard's.
#pragma once
#include "tools/api/server/route.h"

#define ORCHARD_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                   \
	READ("/v1/", FILTERED, controller_greet)                                          \
	READ("/v1/controller/info", TOKEN, controller_info)                               \
	TABLE("/v1/vms", VM_READ, vms_list, STATE_VMS)                                    \
	WRITE("PUT", "/v1/vms", VM_WRITE, vm_add, vm_added)                               \
	WATCH("/v1/vms/:id", VM_READ, vm_read, vm_watched)                                \
	WRITE("PUT", "/v1/vms/:id", VM_WRITE, vm_change, vm_changed)                      \
	WRITE("DELETE", "/v1/vms/:id", VM_WRITE, vm_remove, outcome_answer)               \
	WATCH("/v1/vms/:id/events", VM_READ, vm_events_read, vm_watched)                  \
	WRITE("PUT", "/v1/vms/:id/events", VM_WRITE, vm_events_add, outcome_answer)       \
	NODE(GET, "/v1/vms/:id/ip", VM_CONNECT, vm_ip)                                    \
	NODE(GET, "/v1/vms/:id/logs", VM_READ, vm_logs)                                   \
	NODE(GET, "/v1/vms/:id/port-forward", VM_CONNECT, vm_port_forward)                \
	WRITE("PUT", "/v1/vms/:id/state", VM_WRITE, vm_report, vm_reported)               \
	LIST("/v1/workers", VM_READ, vm_worker_list)                                      \
	WRITE("PUT", "/v1/workers", VM_WRITE, vm_worker_register, vm_worker_registered)   \
	WATCH("/v1/workers/:id", VM_READ, vm_worker_read, vm_worker_watched)              \
	WRITE("PUT", "/v1/workers/:id", VM_WRITE, vm_worker_change, vm_worker_changed)    \
	WRITE("DELETE", "/v1/workers/:id", VM_WRITE, vm_worker_remove, outcome_answer)    \
	NODE(GET, "/v1/workers/:id/port-forward", VM_ADMIN_WRITE, vm_worker_port_forward) \
	TABLE("/v1/cluster-settings", VM_ADMIN_READ, cluster_settings_read,               \
		STATE_CLUSTER_SETTINGS)                                                   \
	WRITE("PUT", "/v1/cluster-settings", VM_ADMIN_WRITE, cluster_settings_set,        \
		cluster_settings_were_set)

ROUTES_DECLARE(ORCHARD_ROUTES)
