// Whether this node may take work, as a command of its operator says. Exit status 0 is yes; 69 is no, and the command
// is not run again; everything else is no, and the command is run again, later and later. Without a command the
// answer is yes.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_BACKOFF_CAP_MS 60000u
#define PROBE_EXIT_NEVER 69 // EX_UNAVAILABLE

struct probe_settings {
	const char *command; // of /bin/sh; NULL: none
	uint32_t backoff_ms; // before it is asked for the second time
	uint32_t timeout_ms; // then it is killed, which is no
};

enum probe_answer { PROBE_UNKNOWN, PROBE_YES, PROBE_NO, PROBE_NEVER };

struct probe {
	struct probe_settings settings;
	enum probe_answer answer; // the newest
	uint32_t waits_ms;        // with PROBE_NO: how long it will not be asked
	uint32_t failures;        // in a row
	pid_t process;            // leads its group; 0: it does not run
	int fd;                   // of the process, readable when it is over; -1: none
	uint64_t kill_ns;         // monotonic, as the next one
	uint64_t due_ns;          // when it is asked (again); UINT64_MAX: when somebody wants it
};

void probe_open(struct probe *, const struct probe_settings *);
// Ends the command if it runs.
void probe_close(struct probe *);
// An answer that is newer than this moment is wanted, now.
void probe_ask(struct probe *, uint64_t now_ns);
// Nobody wants another answer.
void probe_rest(struct probe *);
// True when a new answer has come.
bool probe_step(struct probe *, uint64_t now_ns);
// When to step it again; UINT64_MAX: when fd is readable, or never.
uint64_t probe_due_ns(const struct probe *);
