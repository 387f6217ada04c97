#include "tools/agent/check/check_script.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define EXIT_WARNING 1

static_assert(CHECK_OUTPUT_BYTES >= SCRIPT_OUTPUT_BYTES, "all that is kept of a script is shown");

struct script *check_script_begin(const struct check_rule *rule, const struct alloc_run *a,
	const struct alloc_place *place, int wake_fd, struct check_answer *answer)
{
	const struct task *task = &a->tasks[rule->script_task];
	struct task_folders folders;
	struct script_start start = {.task = task,
		.alloc = a->spec,
		.node = place->node,
		.folders = &folders,
		.confine = place->confine,
		.arguments = rule->arguments,
		.timeout_ns = rule->timeout_ns,
		.wake_fd = wake_fd};
	alloc_run_task_folders(a, task, place->data_folder, &folders);
	*answer = (struct check_answer){.status = CHECK_CRITICAL};
	return script_begin(&start, answer->output, sizeof answer->output);
}

void check_answer_late(const struct check_rule *rule, struct check_answer *answer)
{
	*answer = (struct check_answer){.status = CHECK_CRITICAL};
	snprintf(answer->output, sizeof answer->output, "no answer within %.6gs",
		(double)rule->timeout_ns / NS_PER_S);
}

void check_script_end(
	struct script *script, const struct check_rule *rule, struct check_answer *answer)
{
	struct script_end end;
	script_finish(script, &end);
	if (end.is_late) {
		check_answer_late(rule, answer);
		return;
	}
	*answer = (struct check_answer){.status = CHECK_CRITICAL};
	if (!end.is_known) {
		snprintf(answer->output, sizeof answer->output, "%s", end.message);
		return;
	}
	answer->size = end.size;
	memcpy(answer->output, end.output, end.size);
	if (end.exit_code == 0)
		answer->status = CHECK_PASSING;
	else if (end.exit_code == EXIT_WARNING)
		answer->status = CHECK_WARNING;
}
