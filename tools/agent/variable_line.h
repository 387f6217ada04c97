// The variables that templates read, asked over the line to the controller.
#pragma once
#include "tools/agent/line/line_ask.h"
#include "tools/agent/prepare/variable_source.h"

// context: a struct line **, NULL until there is one; the line outlives all questions.
int variable_line_ask(void *context, const struct variable_question *, struct variable_answer *,
	char *message, uint32_t message_size);
