// A command beside a task's process, which is of another user: over pipes, and with a terminal, to a client who asks
// for it over a WebSocket.
#include "state/base/base64.h"
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tools/agent/exec/exec_frame.h"
#include "tools/agent/exec/exec_session.h"
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
// What it may not be, and has no right to, ends it otherwise. It starts no other program.
#define COMMAND                                                                         \
	"echo hi; while read -r name value rest; do case $name in Uid:) user=$value;; " \
	"NoNewPrivs:) bound=$value;; esac; done </proc/self/status; "                   \
	"test \"$user $bound\" = \"$1 1\" && read -r x && test $x = abc && exit 7; exit 1"

struct exec_guest {
	int fd;
	char heard[128u << 10]; // a program that counts its branches says much to its errors
	bool is_refused;        // its farewell has a reason
};

// Who keeps one right, to bind low ports.
static bool become_nobody(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{1u << 10, 1u << 10, 1u << 10}};

	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0 && syscall(SYS_capset, &header, data) == 0 &&
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 10, 0, 0) == 0;
}

static void begin_task(struct work_place *place)
{
	char byte;
	int ready[2];

	CHECK(pipe(ready) == 0);
	pid_t task = fork();
	if (task == 0) {
		CHECK(geteuid() != 0 || become_nobody());
		CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0); // which another user had lost
		CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1 && close(ready[0]) == 0 && close(ready[1]) == 0);
	place->task = task;
	place->task_started = process_started(task);
}

static void end_task(struct work_place *place)
{
	kill(place->task, SIGKILL);
	CHECK(waitpid(place->task, NULL, 0) == place->task);
}

// A frame as clients send it, masked with zeros.
static void say_frame(int fd, unsigned char opcode, const char *text)
{
	unsigned char head[6] = {0x80 | opcode, 0x80 | (unsigned char)strlen(text)};

	CHECK(strlen(text) < 126 && send(fd, head, sizeof head, MSG_NOSIGNAL) == sizeof head);
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

// Reads what the server says, which is ASCII but for the heads of its frames, and takes leave after it.
static void *listen_to_server(void *context)
{
	struct exec_guest *g = context;
	size_t size = 0;
	bool has_left = false;
	ssize_t n;

	while ((n = recv(g->fd, g->heard + size, sizeof g->heard - 1 - size, 0)) > 0) {
		size += (size_t)n;
		const char *farewell = memchr(g->heard, 0x88, size);
		if (!farewell || has_left)
			continue;
		has_left = true;
		g->is_refused = farewell + 3 < g->heard + size &&
				memcmp(farewell + 2, "\x03\xe8", 2) != 0; // 1000
		(void)send(g->fd, "\x88\x80\0\0\0\0", 6, MSG_NOSIGNAL);
	}
	return NULL;
}

// What the command wrote comes in as many frames as it was read in, and a terminal says what it was sent as well.
static bool has_written(const struct exec_guest *g, const char *text)
{
	static const char head[] = "{\"stdout\":{\"data\":\"";
	const char *at = g->heard, *end = g->heard + sizeof g->heard;
	static char written[sizeof g->heard];
	size_t size = 0, decoded;

	while ((at = memmem(at, (size_t)(end - at), head, sizeof head - 1))) {
		at += sizeof head - 1;
		if (!base64_decode(at, strcspn(at, "\""), (uint8_t *)written + size, &decoded))
			return false; // the connection ended within it
		size += decoded;
	}
	return memmem(written, size, text, strlen(text)) != NULL;
}

// Returns how the command ended, as its client was told; -1: that it was not.
static int talk_to_guest(struct exec_command *command, bool has_terminal)
{
	int ends[2], code = -1;
	pthread_t thread;
	static struct exec_guest guest;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	guest = (struct exec_guest){.fd = ends[0]};
	say_frame(ends[0], 1, "{\"version\":1}");
	say_frame(ends[0], 1, "{\"tty_size\":{\"height\":5,\"width\":6}}");
	say_frame(ends[0], 1, "{\"stdin\":{\"data\":\"YWJjCg==\"}}");
	say_frame(ends[0], 1, "{\"stdin\":{\"close\":true}}");
	CHECK(pthread_create(&thread, NULL, listen_to_server, &guest) == 0);
	struct web_socket_stream stream = web_socket_stream_of(&ends[1]);
	struct web_socket *socket =
		web_socket_open(&stream, false, EXEC_MESSAGE_BYTES_MAX, NULL, 0);
	if (exec_session_greet(socket, &stream, -1))
		code = exec_session_run(socket, &stream, command, -1);
	web_socket_free(socket);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	bool is_right = has_written(&guest, "hi") &&
			memmem(guest.heard, sizeof guest.heard, "\"exit_code\":7}", 14);
	if (guest.is_refused || code != 7 || !is_right)
		walk_said("the client was told, or saw its connection end");
	CHECK(code == 7 || code == -1 || guest.is_refused);
	return is_right && code == 7 ? 7 : -1;
}

static bool run_beside_task(const struct work_place *place, bool has_terminal)
{
	char message[300] = "", user[16];
	struct exec_command command;
	struct exec_place at;
	struct process process = {
		.task = place->task, .task_started = place->task_started, .fd = -1};
	// Or such a program would wait for somebody to read its terminal.
	char *environment[] = {
		(char[]){"PATH=/usr/bin:/bin"}, (char[]){"GCOV_ERROR_FILE=/dev/null"}, NULL};
	char *arguments[] = {
		(char[]){"sh"}, (char[]){"-c"}, (char[]){COMMAND}, (char[]){"sh"}, user, NULL};
	struct exec_command_start start = {arguments, environment, "/tmp", &at, has_terminal};

	snprintf(user, sizeof user, "%d", geteuid() == 0 ? NOBODY : (int)geteuid());
	bool is_started = exec_place_find(&at, &process, "", message, sizeof message) == 0 &&
			  exec_command_start(&start, &command, message, sizeof message) == 0;
	exec_place_close(&at);
	walk_said(is_started ? "" : message);
	if (!is_started)
		return false;
	bool is_done = talk_to_guest(&command, has_terminal) == 7;
	exec_command_finish(&command);
	return is_done;
}

// Whatever is left of a command would be this process's child.
static bool run_commands(struct work_place *place)
{
	pid_t left;

	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	bool is_done = run_beside_task(place, false);
	is_done = run_beside_task(place, true) && is_done;
	for (uint32_t tries = 0; (left = waitpid(-1, NULL, WNOHANG)) != -1; tries++)
		if (left == 0) {
			CHECK(tries < 1000);
			poll(NULL, 0, 1);
		}
	return is_done;
}

const struct node_work exec_work = {.name = "exec",
	.furnish = begin_task,
	.work = run_commands,
	.clear = end_task,
	.excuses = {.cannot_fail = (const char *const[]){"at state/",
			    // Of a process that leads no group, and to a pipe that is read.
			    "setsid at", "write at tools/agent/exec/exec_session.c", NULL},
		.only_once = (const char *const[]){"poll at", NULL}}};
