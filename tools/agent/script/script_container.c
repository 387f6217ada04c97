#include "tools/agent/container/container_exec.h"
#include "tools/agent/script/script_inner.h"
#include <stdio.h>

void script_run_in_container(struct script *s)
{
	struct container_exec exec = {.socket = s->socket,
		.name = s->container,
		.arguments = s->arguments,
		.timeout_ms = script_left_ms(s),
		.stop_fd = s->stop_fd,
		.sink = script_keep_output,
		.context = s};
	enum container_exec_end end =
		container_exec_run(&exec, &s->end.exit_code, s->end.message, sizeof s->end.message);
	s->end.is_known = end == CONTAINER_EXEC_ENDED;
	s->end.is_task_over = end == CONTAINER_EXEC_GONE;
	s->end.is_late = end == CONTAINER_EXEC_LATE;
}
