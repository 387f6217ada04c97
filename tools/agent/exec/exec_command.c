#include "tools/agent/exec/exec_command.h"
#include "tools/agent/exec/exec_keeper.h"
#include "tools/agent/exec/exec_pipes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The terminal's other end is opened without a path: a task may have another /dev/pts, or none.
static int open_terminal(struct exec_command *c, struct keeper *k)
{
	c->input = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (c->input < 0 || unlockpt(c->input) < 0)
		return -errno;
	c->output = fcntl(c->input, F_DUPFD_CLOEXEC, 3);
	k->standard[0] = ioctl(c->input, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (k->standard[0] < 0)
		return -errno;
	for (int i = 1; i < 3; i++)
		k->standard[i] = fcntl(k->standard[0], F_DUPFD_CLOEXEC, 3);
	// So that its user may open it by its name, too.
	if (k->place->changes_user && fchown(k->standard[0], k->place->user.uid, (gid_t)-1) < 0)
		return -errno;
	return c->output < 0 || k->standard[1] < 0 || k->standard[2] < 0 ||
			       fcntl(c->input, F_SETFL, O_RDWR | O_NONBLOCK) < 0
		       ? -EMFILE
		       : 0;
}

static void name_failure(
	const struct keeper_failure *f, const char *program, char *message, uint32_t message_size)
{
	char reason[128];
	snprintf(reason, sizeof reason, "%s", strerror(f->error));
	// As Go's programs write it, whose users look for it.
	if (reason[0] >= 'A' && reason[0] <= 'Z' && !(reason[1] >= 'A' && reason[1] <= 'Z'))
		reason[0] = (char)(reason[0] - 'A' + 'a');
	if (f->stage == KEEPER_EXEC && f->error == ENOENT && !strchr(program, '/'))
		snprintf(message, message_size,
			"exec: \"%.200s\": executable file not found in $PATH", program);
	else if (f->stage == KEEPER_EXEC)
		snprintf(message, message_size, "fork/exec %.200s: %s", program, reason);
	else
		snprintf(message, message_size, "cannot %s: %s", keeper_stage_texts[f->stage],
			reason);
}

// Waits until the program runs, or could not.
static int await_program(int fd, const char *program, char *message, uint32_t message_size)
{
	struct keeper_failure failure;
	ssize_t n;
	do
		n = read(fd, &failure, sizeof failure);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	if (n != sizeof failure || failure.stage >= KEEPER_STAGES)
		failure = (struct keeper_failure){KEEPER_FORK, EIO};
	name_failure(&failure, program, message, message_size);
	return -failure.error;
}

static int run_keeper(struct exec_command *c, struct keeper *k, int failure_fd, char *message,
	uint32_t message_size)
{
	c->keeper = fork();
	if (c->keeper == 0)
		keeper_run(k);
	int error = c->keeper < 0 ? -errno : 0;
	for (int i = 0; i < 3; i++)
		exec_pipe_close(&k->standard[i]);
	exec_pipe_close(&k->channel);
	exec_pipe_close(&k->failure);
	if (error)
		snprintf(message, message_size, "fork: %s", strerror(-error));
	else
		error = await_program(failure_fd, k->arguments[0], message, message_size);
	return error;
}

int exec_command_start(const struct exec_command_start *start, struct exec_command *c,
	char *message, uint32_t message_size)
{
	struct keeper k = {.arguments = start->arguments,
		.environment = start->environment,
		.folder = start->folder,
		.place = start->place,
		.has_terminal = start->has_terminal,
		.standard = {-1, -1, -1},
		.channel = -1,
		.failure = -1};
	int channel[2] = {-1, -1}, failure[2] = {-1, -1};
	*c = (struct exec_command){.input = -1,
		.output = -1,
		.error = -1,
		.keeper_fd = -1,
		.has_terminal = start->has_terminal};
	int error = start->has_terminal
			    ? open_terminal(c, &k)
			    : exec_pipes_open(
				      (int *[]){&c->input, &c->output, &c->error}, k.standard, 0);
	if (!error && (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0 ||
			      pipe2(failure, O_CLOEXEC) < 0))
		error = -errno;
	c->keeper_fd = channel[0];
	k.channel = channel[1];
	k.failure = failure[1];
	if (error) {
		snprintf(message, message_size, "cannot open a terminal or pipes: %s",
			strerror(-error));
		for (int i = 0; i < 3; i++)
			exec_pipe_close(&k.standard[i]);
		exec_pipe_close(&k.channel);
		exec_pipe_close(&k.failure);
	} else {
		error = run_keeper(c, &k, failure[0], message, message_size);
	}
	exec_pipe_close(&failure[0]);
	if (error)
		exec_command_finish(c);
	return error;
}

void exec_command_resize(const struct exec_command *c, uint16_t rows, uint16_t columns)
{
	struct winsize size = {.ws_row = rows, .ws_col = columns};
	if (c->other)
		c->other->resize(c, rows, columns);
	else if (c->has_terminal && c->input >= 0)
		(void)ioctl(c->input, TIOCSWINSZ, &size); // a terminal that is gone has no size
}

struct exec_command_end exec_command_ended(const struct exec_command *c)
{
	struct exec_command_end end;
	ssize_t n = recv(c->keeper_fd, &end, sizeof end, MSG_DONTWAIT);
	// A keeper that has ended before it took the newest size resets the channel; what it said stands behind that.
	if (n < 0 && errno == ECONNRESET)
		n = recv(c->keeper_fd, &end, sizeof end, MSG_DONTWAIT);
	if (n == sizeof end)
		return end;
	return (struct exec_command_end){.exit_code = 255,
		.reason = "nobody knows how the command ended: its keeper is gone"};
}

void exec_command_finish(struct exec_command *c)
{
	// The keeper's first: a command that ends with its terminal would be taken for one that ended by itself.
	exec_pipe_close(&c->keeper_fd);
	exec_pipe_close(&c->input);
	exec_pipe_close(&c->output);
	exec_pipe_close(&c->error);
	while (c->keeper > 0 && waitpid(c->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	c->keeper = 0;
	if (c->other)
		c->other->join(c->context);
	c->other = NULL;
}
