#include "tools/agent/exec/exec_pipes.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int exec_pipes_open(int *const own[3], int far[3], int flags)
{
	for (int i = 0; i < 3; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC | flags) < 0)
			return -errno;
		*own[i] = ends[i == 0 ? 1 : 0];
		far[i] = ends[i == 0 ? 0 : 1];
		if (fcntl(*own[i], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	return 0;
}

void exec_pipe_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
