// Which function answers which path. A client's routes do not look at the method, so most rows do not.
#pragma once
#include "tools/agent/service/service_request.h"

// Answers on the connection's thread. Sets *status and returns the response, which libmicrohttpd then owns.
typedef struct MHD_Response *service_answer(struct service_request *, unsigned *status);

struct service_route {
	const char *method; // NULL: any
	const char
		*pattern; // "/v1/client/fs/ls/:id"; :id stands for one segment, which may be empty
	service_answer *answer;
};

// The routes of the agent; ends with a row without a pattern.
extern const struct service_route service_routes[];

// The row of a path, and what stands for :id in it. NULL: there is none.
const struct service_route *service_route_find(const struct service_route *table,
	const char *method, const char *path, char id[static SERVICE_ID_BYTES]);

// The functions of the table, by the file that has them.
service_answer agent_monitor;                                    // agent_monitor.c
service_answer alloc_checks;                                     // alloc_checks.c
service_answer alloc_exec;                                       // exec_route.c
service_answer alloc_gc, alloc_restart, alloc_signal;            // lifecycle.c
service_answer alloc_stats;                                      // alloc_stats.c
service_answer client_gc;                                        // lifecycle.c
service_answer fs_ls, fs_stat, fs_cat, fs_readat;                // fs_files.c
service_answer fs_stream, fs_logs;                               // fs_streams.c
service_answer node_stats;                                       // node_stats.c
service_answer vm_address, vm_port_forward, worker_port_forward; // vm_route.c
service_answer vm_logs;                                          // vm_logs.c
