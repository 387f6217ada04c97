// What the thread of a script works with.
#pragma once
#include "tools/agent/exec/exec_command.h"
#include "tools/agent/script/script_end.h"
#include "tools/agent/task/environment.h"
#include <pthread.h>
#include <stdatomic.h>

#define SCRIPT_CONTAINER_BYTES 256u

struct script {
	pthread_t thread;
	int stop_fd; // readable when it is to be killed
	int wake_fd;
	_Atomic bool is_over;
	char **arguments;     // owned
	uint64_t deadline_ns; // monotonic
	// Beside a process.
	struct process process;
	struct environment environment;
	const struct sock_fprog *filter; // NULL: the task has none
	char user[128], folder[512];
	// In a container.
	const char *socket; // of its engine, the driver's; NULL: it is none
	char container[SCRIPT_CONTAINER_BYTES];
	struct script_end end; // the thread's until it is over
};

void script_run_beside_process(struct script *);
void script_run_in_container(struct script *);
// Without input, until it has ended, its time is over, or it is to stop; then it is ended and finished.
void script_follow(struct script *, struct exec_command *);
// Keeps what has room.
void script_keep_output(struct script *, const char *bytes, size_t size);
// 0: its time is over.
uint64_t script_left_ms(const struct script *);
