// Questions that the agent asks of the controller in HTTP, over a connection that it dials. The controller answers them
// as those of this node, and as far as a task that runs on it may read: the variables of the task's job.
//
// GET /v1/var/PATH?namespace=NAMESPACE answers as it does for everybody: 200 with Path, Items and ModifyIndex in JSON,
// 404 when there is no such variable. A task may read nomad/jobs, nomad/jobs/JOB, nomad/jobs/JOB/GROUP and
// nomad/jobs/JOB/GROUP/TASK of its job's namespace, and what policies for its job allow; JOB is the parent's id when a
// schedule or a dispatch launched the job. GET /v1/vars?prefix=PREFIX lists which of them are there.
//
// To wait for a change, ask again with &index=N&wait=5m, N being answer.index of the answer before (1 when that was 0),
// and a timeout that is longer than the wait. The answer comes once the variable has another index, or is gone, or was
// made; or after the wait, with the same index.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stddef.h>

struct line;

// The most bytes of an answer; a longer one is refused.
#define LINE_ANSWER_BYTES_MAX (4u * 1024 * 1024)
// How long an answer may take, unless the question says otherwise.
#define LINE_ASK_TIMEOUT_MS 30000u

struct line_question {
	const char *method; // "GET"
	// Path and query, percent-encoded: "/v1/var/nomad/jobs/web?namespace=default".
	const char *target;
	struct uuid allocation; // runs on this node
	const char *task;       // of the allocation: for whom the agent asks
	const void *body;       // NULL: none
	size_t body_size;
	uint32_t timeout_ms; // 0: LINE_ASK_TIMEOUT_MS
	int stop_fd;         // the wait ends once it is readable; -1: none
};

struct line_answer {
	unsigned status;
	uint64_t index; // X-Nomad-Index; 0: it has none
	char *body;     // ends with NUL; the caller frees it (line_answer_free)
	size_t body_size;
};

// Asks and waits for the answer. Any thread but the agent's main one; several may ask at a time. Returns 0 and an
// answer, whatever its status, or a negative error and a sentence: -ETIMEDOUT, -ECANCELED (stop_fd), -ENOTCONN (the
// controller is not known yet, or takes no connections), -EACCES (it does not know this node's key), -EMSGSIZE,
// -EPROTO, or what the socket says. After an error ask again, backing off: nothing was changed by a GET.
int line_ask(struct line *, const struct line_question *, struct line_answer *, char *message,
	uint32_t message_size);
void line_answer_free(struct line_answer *);
// Takes the bytes of an answer apart, with a NUL behind them. False: it is none, or not whole.
bool line_answer_read(char *text, size_t size, struct line_answer *);
