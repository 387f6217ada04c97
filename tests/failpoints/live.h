// A controller and an agent as programs over loopback, with failpoints that are armed while they run.
#pragma once
#include "tools/http_client/http_client.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LIVE_ANSWER_BYTES (1u << 20)

enum live_program { LIVE_CONTROLLER, LIVE_AGENT, LIVE_PROGRAMS };

struct live {
	const char *programs[LIVE_PROGRAMS], *berth; // paths
	char folder[64], group[80];                  // both of a name that nobody else has
	char node[40], allocation[40];
	uint16_t wire_port, http_port;
	pid_t pids[LIVE_PROGRAMS]; // 0: it does not run
	long log_from[LIVE_PROGRAMS];
	struct http_client *client;
	const char *doing;              // for what is said of a failure
	char answer[LIVE_ANSWER_BYTES]; // to the newest live_get() or live_put()
	uint64_t index;                 // that it came with; 0: none
};

// Tries until it holds. What ends meanwhile fails the test.
#define LIVE_EVENTUALLY(l, condition)                                  \
	do {                                                           \
		uint64_t until_ms_ = live_now_ms() + LIVE_PATIENCE_MS; \
		while (!(condition)) {                                 \
			live_must_run(l);                              \
			if (live_now_ms() > until_ms_)                 \
				live_give_up(l, #condition);           \
			live_nap_ms(5);                                \
		}                                                      \
	} while (0)
#define LIVE_PATIENCE_MS 20000u

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
// The same with 3 s, and the answer in l->answer.
long live_get(struct live *, const char *path);
__attribute__((format(printf, 3, 4))) long live_put(
	struct live *, const char *path, const char *body, ...);
json_t *live_get_json(struct live *, const char *path); // NULL without an answer; the caller's
// A text of the first of a list. False: there is none.
bool live_first_has(struct live *, const char *path, const char *member, char *text, size_t room);
bool live_first_is(struct live *, const char *path, const char *member, const char *wanted);

// A job of one task that says in the file "ran" which allocation of it begins, and then runs the script. It stays with
// a node that was silent for longer than it may.
struct live_job {
	const char *id, *type;
	uint32_t count, cpu; // count: 0 is 1
	const char *more,
		*script; // more: members of the task, each with a comma behind it; or NULL, both
};
void live_run_job(struct live *, const struct live_job *); // it is acknowledged, or the test fails
// Leaves when the first bytes came.
void live_look_in(struct live *, const char *path, uint32_t timeout_ms);
// A number of /v1/metrics, summed over its labels; -1 without an answer.
double live_metric(struct live *, const char *name);
void live_mark_logs(struct live *);
// Whether a program has said it since they were marked.
bool live_said(struct live *, const char *text);
void live_print_logs(struct live *);
__attribute__((noreturn)) void live_give_up(struct live *, const char *what); // fails the test
uint32_t live_runs(const struct live *, const char *allocation); // of its task; "": of all tasks
void live_nap_ms(uint32_t);
uint64_t live_now_ms(void);
