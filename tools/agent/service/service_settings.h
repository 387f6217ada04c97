// What the service needs of the agent.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ask_runner;
struct service_route;
struct time_source;

// Connections at once, idle ones included, unless the settings say otherwise.
#define AGENT_SERVICE_CONNECTIONS_MAX 64u
// Commands inside tasks at once.
#define EXEC_COMMANDS_MAX 32u
// A connection is closed when nothing moves on it for so long: between requests, or because its peer takes no bytes.
#define AGENT_SERVICE_IDLE_S 120u

struct agent_service_settings {
	struct ask_runner *ask;         // to the runner; outlives the service
	const char *data_folder;        // as in struct runner_settings; outlives the service
	const struct time_source *time; // of the wall, for what answers show
	uint32_t connections_max;       // 0: the default above
	uint32_t idle_s;                // 0: the default above
	bool no_exec;                   // refuses commands inside tasks
	const char *worker_ports; // of this node that may be reached: "22,8000-8010"; NULL: none
	const struct service_route
		*routes; // ends with a row without a pattern; NULL: the table of service_routes.c
};
