#include "tools/agent/variable_line.h"
#include <errno.h>
#include <stdio.h>

int variable_line_ask(void *context, const struct variable_question *q,
	struct variable_answer *answer, char *message, uint32_t message_size)
{
	struct line *const *line = context;
	const struct line_question question = {.method = "GET",
		.target = q->target,
		.allocation = q->allocation,
		.task = q->task,
		.timeout_ms = q->timeout_ms,
		.stop_fd = q->stop_fd};
	struct line_answer said;

	if (!*line) {
		snprintf(message, message_size, "the line to the controller is not there yet");
		return -ENOTCONN;
	}
	int error = line_ask(*line, &question, &said, message, message_size);
	if (!error)
		*answer = (struct variable_answer){said.status, said.index, said.body};
	return error;
}
