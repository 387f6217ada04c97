// Ports of a machine that qemu runs, as far as a machine goes that has a network and says nothing.
#include "state/base/memory.h"
#include "tools/agent/vm/guest_port.h"
#include "tools/agent/vm/qemu.h"
#include "tools/agent/vm/qmp.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-port-XXXXXX", message[300];
static pid_t machine;

static void begin_machine(bool has_network)
{
	static const char network[] = "user,id=net0";
	char path[64];
	machine = fork();
	if (machine == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir(folder) < 0)
			_exit(1);
		execl(qemu_program(), "qemu", "-nodefaults", "-display", "none", "-machine", "q35",
			"-S", "-accel", "tcg", "-m", "16M", "-qmp",
			"unix:" QMP_SOCKET ",server=on,wait=off", has_network ? "-netdev" : NULL,
			network, "-device", "virtio-net-pci,netdev=net0,romfile=", NULL);
		_exit(1);
	}
	snprintf(path, sizeof path, "%s/" QMP_SOCKET, folder);
	for (int i = 0; i < 2000 && access(path, F_OK) < 0; i++)
		poll(NULL, 0, 10);
}

static void end_machine(void)
{
	char path[64];
	kill(machine, SIGKILL);
	waitpid(machine, NULL, 0);
	snprintf(path, sizeof path, "%s/" QMP_SOCKET, folder);
	unlink(path);
}

static bool is_closed(int fd, int timeout_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	return poll(&polled, 1, timeout_ms) != 0;
}

// What it forwards is taken before it is forwarded no more, time and again, and then nobody else gets in.
static void a_port_is_open_for_one(void **unused)
{
	if (!qemu_program())
		skip();
	int fds[8];
	begin_machine(true);
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		struct sockaddr_in peer;
		socklen_t size = sizeof peer;
		fds[i] = guest_port_connect(folder, 22, -1, message, sizeof message);
		if (fds[i] < 0)
			fail_msg("%s", message);
		assert_int_equal(getpeername(fds[i], (struct sockaddr *)&peer, &size), 0);
		int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(other, (struct sockaddr *)&peer, size), -1);
		assert_int_equal(errno, ECONNREFUSED);
		close(other);
	}
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		assert_false(
			is_closed(fds[i], i ? 0 : 200)); // its guest does not answer for a while
	end_machine();
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		assert_true(is_closed(fds[i], 20000));
		close(fds[i]);
	}
}

static void a_machine_without_a_network(void **unused)
{
	if (!qemu_program())
		skip();
	begin_machine(false);
	assert_int_equal(guest_port_connect(folder, 22, -1, message, sizeof message), -ENETUNREACH);
	assert_non_null(strstr(message, "--vm-network user"));
	end_machine();
}

static void its_address_is_told(void **unused)
{
	char address[GUEST_ADDRESS_BYTES];
	if (!qemu_program())
		skip();
	begin_machine(true);
	assert_int_equal(guest_address(folder, -1, address, message, sizeof message), 0);
	assert_string_equal(address, "10.0.2.15");
	end_machine();
	begin_machine(false);
	assert_int_equal(guest_address(folder, -1, address, message, sizeof message), -ENETUNREACH);
	assert_non_null(strstr(message, "--vm-network user"));
	end_machine();
}

// Somebody else talks to the monitor, and then no more.
static void a_busy_monitor_is_waited_for(void **unused)
{
	int stop[2];
	if (!qemu_program())
		skip();
	begin_machine(true);
	struct qmp *other = NULL;
	// Its socket is there a little before anybody listens.
	for (int i = 0; i < 2000 && !(other = qmp_open(folder)); i++)
		poll(NULL, 0, 10);
	assert_non_null(other);
	bool is_over;
	json_t *greeting = NULL;
	while (!greeting) {
		assert_true(poll(&(struct pollfd){.fd = qmp_fd(other), .events = POLLIN}, 1,
				    20000) > 0);
		greeting = qmp_receive(other, &is_over);
	}
	json_decref(greeting);
	assert_int_equal(pipe(stop), 0);
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_true(guest_port_connect(folder, 22, stop[0], message, sizeof message) < 0);
	assert_true(*message);
	qmp_close(other);
	int fd = guest_port_connect(folder, 22, -1, message, sizeof message);
	assert_true(fd >= 0);
	close(fd);
	close(stop[0]);
	close(stop[1]);
	end_machine();
}

static int make_folder(void **unused)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_is_open_for_one),
		cmocka_unit_test(a_machine_without_a_network),
		cmocka_unit_test(its_address_is_told),
		cmocka_unit_test(a_busy_monitor_is_waited_for),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
