#include "tools/agent/container/container_exec.h"
#include "tools/agent/exec/exec_container.h"
#include "tools/agent/script/script_inner.h"

#define EXIT_OF_SIGNALS 128 // and above

void script_run_in_container(struct script *s)
{
	struct exec_command command;
	uint64_t left_ms = script_left_ms(s);
	struct exec_container_start start = {.socket = s->socket,
		.name = s->container,
		.arguments = s->arguments,
		.timeout_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX,
		.stop_fd = s->stop_fd};
	if (exec_container_start(&start, &command, s->end.message, sizeof s->end.message) == 0)
		script_follow(s, &command);
	else
		s->end.is_late = script_left_ms(s) == 0;
	if (s->end.is_known && s->end.exit_code < EXIT_OF_SIGNALS)
		return;
	s->end.is_task_over = !container_exec_has_place(s->socket, s->container);
	s->end.is_known &= !s->end.is_task_over;
	s->end.is_late &= !s->end.is_task_over;
}
