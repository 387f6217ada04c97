#include "tests/tools/agent/container/scripted_run.h"
#include "state/base/check.h"
#include "tools/agent/container/container_run.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int put_plan(const char *socket_path, const char *exit_path)
{
	json_t *plan = json_pack("{s:s s:s s:s s:s s:s s:I s:s s:b s:{s:s}}", "Socket", socket_path,
		"Engine", "podman", "Name", "c", "Image", "i", "Exit", exit_path, "PullTimeout",
		(json_int_t)20000000000, "Auth", "", "Tty", false, "Create", "Image", "i");
	int fd = memfd_create("plan", MFD_CLOEXEC);

	CHECK(plan && fd >= 0 && json_dumpfd(plan, fd, 0) == 0);
	json_decref(plan);
	return fd;
}

int scripted_run(const char *socket_path, const char *exit_path, int output_fd,
	const struct engine_answer *answers)
{
	char number[16], name[] = "x", run[] = CONTAINER_RUN;
	char *arguments[] = {name, run, number, NULL};
	int status, ready[2];

	int plan = put_plan(socket_path, exit_path);
	snprintf(number, sizeof number, "%d", plan);
	CHECK(pipe(ready) == 0);
	pid_t child = fork();
	if (child == 0) {
		CHECK(read(ready[0], number + sizeof number - 1, 1) == 1 &&
			dup2(output_fd, STDOUT_FILENO) == STDOUT_FILENO);
		exit(container_run(3, arguments));
	}
	if (answers)
		scripted_engine_start(socket_path, answers);
	CHECK(child > 0 && write(ready[1], "", 1) == 1 && waitpid(child, &status, 0) == child);
	if (answers)
		scripted_engine_stop();
	close(ready[0]);
	close(ready[1]);
	close(plan);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
