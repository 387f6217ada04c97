#include "tools/agent/vm/guest_port.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/base/loopback.h"
#include "tools/agent/task/spec.h"
#include "tools/agent/vm/qmp.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NETWORK "net0" // as in qemu.c
#define GUEST_HOST 15u // of the first address that qemu's network hands out
#define TRY_AGAIN_MS 20
#define TRIES_MAX 5

struct monitor {
	struct qmp *qmp;
	int stop_fd;
	uint64_t until_ns;
	char *message;
	uint32_t message_size;
};

__attribute__((format(printf, 3, 4))) static int fail_guest(
	const struct monitor *m, int error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(m->message, m->message_size, format, arguments);
	va_end(arguments);
	return error;
}

// False: it is time to give up.
static bool wait_for_monitor(const struct monitor *m, int fd, int64_t most_ms)
{
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	struct pollfd polled[] = {
		{.fd = fd, .events = POLLIN}, {.fd = m->stop_fd, .events = POLLIN}};
	if (now_ns >= m->until_ns)
		return false;
	int64_t left_ms = (int64_t)(m->until_ns - now_ns) / NS_PER_MS + 1;
	(void)poll(polled, 2, (int)(most_ms < left_ms ? most_ms : left_ms));
	return polled[1].revents == 0;
}

// The next answer; NULL after a sentence.
static json_t *hear_monitor(const struct monitor *m)
{
	bool is_over = false;
	json_t *answer;
	while (!(answer = qmp_receive(m->qmp, &is_over)) && !is_over &&
		wait_for_monitor(m, qmp_fd(m->qmp), INT32_MAX))
		;
	if (!answer)
		fail_guest(m, 0, "the machine's monitor does not answer%s",
			is_over ? ": the machine has ended" : "; try again");
	return answer;
}

static json_t *ask_monitor(const struct monitor *m, json_t *command)
{
	if (qmp_send(m->qmp, command, -1))
		return hear_monitor(m);
	fail_guest(m, 0, "the machine's monitor does not listen");
	return NULL;
}

static int greet_monitor(struct monitor *m, const char *folder)
{
	while (!(m->qmp = qmp_open(folder)))
		if (!wait_for_monitor(m, -1, TRY_AGAIN_MS))
			return fail_guest(m, -EBUSY, "the machine's monitor cannot be reached");
	json_t *greeting = hear_monitor(m);
	json_t *answer =
		greeting ? ask_monitor(m, json_pack("{s:s}", "execute", "qmp_capabilities")) : NULL;
	bool is_fine = answer && json_object_get(answer, "return");
	if (answer && !is_fine)
		fail_guest(m, 0, "the machine's monitor takes no questions");
	json_decref(greeting);
	json_decref(answer);
	return is_fine ? 0 : -EBUSY;
}

// One line for people and what is said to it; NULL after a sentence.
static json_t *ask_in_words(const struct monitor *m, const char *line)
{
	return ask_monitor(m, json_pack("{s:s s:{s:s}}", "execute", "human-monitor-command",
				      "arguments", "command-line", line));
}

static int fail_without_network(const struct monitor *m)
{
	return fail_guest(m, -ENETUNREACH,
		"the machine has no network: its worker's agent runs without --vm-network user");
}

// One that says nothing when all is well. 0, or -errno and a sentence.
__attribute__((format(printf, 2, 3))) static int tell_monitor(
	const struct monitor *m, const char *format, ...)
{
	char line[100];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	json_t *answer = ask_in_words(m, line);
	if (!answer)
		return -EBUSY;
	const char *said = spec_text(answer, "return");
	int error = 0;
	if (strstr(said, "unrecognized netdev"))
		error = fail_without_network(m);
	else if (*said || json_object_get(answer, "error"))
		error = fail_guest(m, strstr(said, "Could not set up") ? -EADDRINUSE : -EIO,
			"the machine's monitor says: %.*s", (int)strcspn(said, "\r\n"), said);
	json_decref(answer);
	return error;
}

// A port of the loopback that nobody has; 0: there is none.
static uint16_t find_free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 &&
			getsockname(fd, (struct sockaddr *)&address, &size) == 0;
	if (fd >= 0)
		close(fd);
	return is_bound ? ntohs(address.sin_port) : 0;
}

static int connect_to_qemu(const struct monitor *m, uint16_t port)
{
	int fd = loopback_connect(AF_INET, port, LOOPBACK_WAIT_MS);
	return fd >= 0 ? fd
		       : fail_guest(
				 m, fd, "cannot connect to what qemu forwards: %s", strerror(-fd));
}

// The connection is made in the kernel before qemu knows of it. Whatever qemu answers after that, it answers in a turn
// of its loop in which it takes the connection, too, so that the next question ends nothing but the listening.
static int forward_once(const struct monitor *m, uint16_t guest, uint16_t port)
{
	char line[100];
	int error = tell_monitor(
		m, "hostfwd_add " NETWORK " tcp:127.0.0.1:%u-:%u", (unsigned)port, (unsigned)guest);
	if (error)
		return error;
	int fd = connect_to_qemu(m, port);
	json_decref(ask_monitor(m, json_pack("{s:s}", "execute", "query-status")));
	snprintf(line, sizeof line, "hostfwd_remove " NETWORK " tcp:127.0.0.1:%u", (unsigned)port);
	json_decref(ask_in_words(m, line));
	return fd;
}

static struct monitor monitor_of(int stop_fd, char *message, uint32_t message_size)
{
	return (struct monitor){.stop_fd = stop_fd,
		.until_ns = time_monotonic_ns(&time_source_real) +
			    GUEST_PORT_WAIT_MS * (uint64_t)NS_PER_MS,
		.message = message,
		.message_size = message_size};
}

int guest_port_connect(
	const char *folder, uint16_t guest, int stop_fd, char *message, uint32_t message_size)
{
	struct monitor m = monitor_of(stop_fd, message, message_size);
	int fd = greet_monitor(&m, folder);
	if (fd == 0)
		fd = -EADDRINUSE;
	// Somebody else may take the free port before qemu does.
	for (int i = 0; i < TRIES_MAX && m.qmp && fd == -EADDRINUSE; i++)
		fd = forward_once(&m, guest, find_free_port());
	qmp_close(m.qmp);
	return fd;
}

// "… net0: index=0,type=user,net=10.0.2.0,restrict=off": qemu gives its only guest the 15th address of the net.
static int read_address(
	const struct monitor *m, const char *said, char address[static GUEST_ADDRESS_BYTES])
{
	const char *user = strstr(said, NETWORK ": ");
	const char *net = user ? strstr(user, "type=user,net=") : NULL;
	unsigned a, b, c, d;
	if (!user)
		return fail_without_network(m);
	if (!net || sscanf(net, "type=user,net=%3u.%3u.%3u.%3u", &a, &b, &c, &d) != 4 || a > 255 ||
		b > 255 || c > 255 || d > 240)
		return fail_guest(m, -EIO, "the machine's monitor tells no address of it");
	snprintf(address, GUEST_ADDRESS_BYTES, "%u.%u.%u.%u", a, b, c, d + GUEST_HOST);
	return 0;
}

int guest_address(const char *folder, int stop_fd, char address[static GUEST_ADDRESS_BYTES],
	char *message, uint32_t message_size)
{
	struct monitor m = monitor_of(stop_fd, message, message_size);
	int error = greet_monitor(&m, folder);
	json_t *answer = error ? NULL : ask_in_words(&m, "info network");
	if (answer)
		error = read_address(&m, spec_text(answer, "return"), address);
	else if (!error)
		error = -EBUSY;
	json_decref(answer);
	qmp_close(m.qmp);
	return error;
}
