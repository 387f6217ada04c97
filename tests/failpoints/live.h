// A controller and an agent as programs over loopback, with failpoints that are armed while they run.
#pragma once
#include "tools/http_client/http_client.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum live_program { LIVE_CONTROLLER, LIVE_AGENT, LIVE_PROGRAMS };

struct live {
	const char *programs[LIVE_PROGRAMS], *berth; // paths
	char folder[64], group[80];                  // both of a name that nobody else has
	char node[40], allocation[40];
	uint16_t wire_port, http_port;
	pid_t pids[LIVE_PROGRAMS]; // 0: it does not run
	long log_from[LIVE_PROGRAMS];
	struct http_client *client;
};

// Shares the points and gives the node its key. Nothing runs yet.
void live_begin(struct live *, const char *controller, const char *agent, const char *berth);
void live_end(struct live *); // kills what runs, and the tasks
void live_start(struct live *, enum live_program);
void live_kill(struct live *, enum live_program); // with SIGKILL
// Whether it ends within seconds. It does not run any more then; *status as wait() has it.
bool live_ends(struct live *, enum live_program, uint32_t wait_ms, int *status);
void live_must_run(struct live *);

// Returns the status, 0 without an answer. The answer's beginning is kept, with a NUL. body may be NULL.
long live_ask(struct live *, const char *method, const char *path, const char *body,
	uint32_t timeout_ms, char *answer, size_t room);
// Leaves when the first bytes came.
void live_look_in(struct live *, const char *path);
// A number of /v1/metrics, summed over its labels; -1 without an answer.
double live_metric(struct live *, const char *name);
void live_mark_logs(struct live *);
// Whether a program has said it since they were marked.
bool live_said(struct live *, const char *text);
void live_print_logs(struct live *);
uint32_t live_runs(const struct live *); // of the task that stays
void live_nap_ms(uint32_t);
