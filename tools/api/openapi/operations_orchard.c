// Virtual machines, their workers and service accounts, as Orchard's clients ask for them.
#include "tools/api/openapi/operations.h"

#define EVENTS "[{kind: string, timestamp: integer, payload: string}]"

static const struct operation rows[] = {
	{"GET", "/v1/", "That a controller is here.", NULL, NULL, "any"},
	{"GET", "/v1/controller/info", "The version of the controller.", NULL, NULL,
		"{version: string, commit: string, capabilities: [string]}"},
	{"GET", "/v1/vms", "Virtual machines.", "filter:string watch:boolean worker:string", NULL,
		"[VirtualMachine]"},
	{"PUT", "/v1/vms", "Makes a virtual machine.", NULL, "VirtualMachine", "VirtualMachine"},
	{"GET", "/v1/vms/:id", "One virtual machine.", "watch:boolean", NULL, "VirtualMachine"},
	{"PUT", "/v1/vms/:id", "Changes a virtual machine.", NULL, "VirtualMachine",
		"VirtualMachine"},
	{"DELETE", "/v1/vms/:id", "Takes a virtual machine away.", NULL, NULL, ""},
	{"GET", "/v1/vms/:id/events", "Events of a virtual machine.", "limit:integer", NULL,
		EVENTS},
	{"PUT", "/v1/vms/:id/events", "Adds events of a virtual machine.", NULL, EVENTS, ""},
	{"GET", "/v1/vms/:id/port-forward", "Reaches a port of a machine, over a WebSocket.",
		"port:integer wait:integer", NULL, OPERATION_STREAM},
	{"PUT", "/v1/vms/:id/state", "What a worker reports.", NULL, "VirtualMachine",
		"VirtualMachine"},
	{"GET", "/v1/workers", "Workers.", NULL, NULL, "[Worker]"},
	{"PUT", "/v1/workers", "Makes a worker.", NULL, "Worker", "Worker"},
	{"GET", "/v1/workers/:id", "One worker.", NULL, NULL, "Worker"},
	{"PUT", "/v1/workers/:id", "Changes a worker.", NULL, "Worker", "Worker"},
	{"DELETE", "/v1/workers/:id", "Takes a worker away.", NULL, NULL, ""},
	{"GET", "/v1/cluster-settings", "Settings of the placement of machines.", NULL, NULL,
		"ClusterSettings"},
	{"PUT", "/v1/cluster-settings", "Changes them.", NULL, "ClusterSettings",
		"ClusterSettings"},
	{"GET", "/v1/service-accounts", "Service accounts.", NULL, NULL, "[ServiceAccount]"},
	{"PUT", "/v1/service-accounts", "Makes a service account.", NULL, "ServiceAccount",
		"ServiceAccount"},
	{"GET", "/v1/service-accounts/:id", "One service account.", NULL, NULL, "ServiceAccount"},
	{"PUT", "/v1/service-accounts/:id", "Changes a service account.", NULL, "ServiceAccount",
		"ServiceAccount"},
	{"DELETE", "/v1/service-accounts/:id", "Takes a service account away.", NULL, NULL, ""},
};
const struct operation_table orchard_operations = {rows, sizeof rows / sizeof rows[0]};
