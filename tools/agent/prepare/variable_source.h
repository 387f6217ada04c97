// Where the variables of the cluster come from: questions in HTTP to the controller, for a task that runs here.
#pragma once
#include "state/base/uuid.h"
#include <stddef.h>
#include <stdint.h>

struct variable_question {
	const char *target; // path and query: "/v1/var/nomad/jobs/web?namespace=default"
	struct uuid allocation;
	const char *task;
	uint32_t timeout_ms;
	int stop_fd; // the wait ends once it is readable
};

struct variable_answer {
	unsigned status;
	uint64_t index; // X-Nomad-Index; 0: none
	char *body;     // NUL-terminated; whoever asked frees it
};

struct variable_source {
	void *context;
	// Asks and waits, on any thread but the main one. 0 and an answer, or -errno and a sentence.
	int (*ask)(void *context, const struct variable_question *, struct variable_answer *,
		char *message, uint32_t message_size);
};
