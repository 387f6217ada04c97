// Asks a command of the operator whether this node may take work. Exit status 0 is yes; 69 is no, and the command is
// not run again; every other status is no, and the command is run again after growing waits. Without a command the
// answer is yes.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_BACKOFF_CAP_MS 60000u
#define PROBE_EXIT_NEVER 69 // EX_UNAVAILABLE

struct probe_settings {
	const char *command; // for /bin/sh; NULL: none
	uint32_t backoff_ms; // wait before the second run
	uint32_t timeout_ms; // then the probe is killed, which is no
};

enum probe_answer { PROBE_UNKNOWN, PROBE_YES, PROBE_NO, PROBE_NEVER };

struct probe {
	struct probe_settings settings;
	enum probe_answer answer; // the newest
	uint32_t waits_ms;        // with PROBE_NO: wait until the next run
	uint32_t failures;        // in a row
	pid_t process;            // leads its group; 0: no probe runs
	int fd;                   // pidfd of the process, readable when it is over; -1: none
	uint64_t kill_ns;         // monotonic, as is due_ns
	uint64_t due_ns;          // next run; UINT64_MAX: when probe_ask is called
};

void probe_open(struct probe *, const struct probe_settings *);
// Kills the command if it runs.
void probe_close(struct probe *);
// Runs the command now; an answer from before this call does not count.
void probe_ask(struct probe *, uint64_t now_ns);
// Nobody waits for another answer.
void probe_rest(struct probe *);
// True when the probe has a new answer.
bool probe_step(struct probe *, uint64_t now_ns);
// When to step the probe again; UINT64_MAX: when fd is readable, or never.
uint64_t probe_due_ns(const struct probe *);
