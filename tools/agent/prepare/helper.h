// The process that fetches one artifact (tools/agent/fetch): as the task's user, with bounds on its memory, its time
// and what it writes, and gone with the agent. The main thread never waits for it.
#pragma once
#include "tools/agent/fetch/fetch.h"
#include <sys/types.h>

struct helper {
	pid_t pid; // 0: none
	int fd;    // pidfd, readable when it is over; -1: none
	int result_fd;
	int64_t deadline_ns; // unix
};
#define HELPER_NONE ((struct helper){.fd = -1, .result_fd = -1})

// program: open file of berth-agent. user "": the agent's own. 0, or -errno and a sentence.
int helper_start(struct helper *, int program, const struct fetch_request *, int folder,
	const char *user, char *message, uint32_t message_size);
// True once it is over, with the result.
bool helper_ended(struct helper *, struct fetch_result *);
// Kills it and waits for that.
void helper_stop(struct helper *);
