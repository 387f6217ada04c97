// The monitor of a machine that has more to tell than anybody wants to hear.
#include "tools/agent/vm/qmp.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define EVENT "{\"event\":\"RTC_CHANGE\",\"data\":{\"offset\":1}}\r\n"

static char folder[] = "/tmp/berth-qmp-XXXXXX";
static char path[100];
static int listener;

static int set_up(void **unused)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/" QMP_SOCKET, folder);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	return listen(listener, 1);
}

static int tear_down(void **unused)
{
	close(listener);
	unlink(path);
	return rmdir(folder);
}

// As many events as the socket holds.
static void flood(int fd)
{
	static char many[32768];
	size_t size = 0, event = strlen(EVENT);
	for (; size + event <= sizeof many; size += event)
		memcpy(many + size, EVENT, event);
	while (send(fd, many, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size)
		;
}

static int unread(const struct qmp *q)
{
	int bytes = -1;
	assert_int_equal(ioctl(qmp_fd(q), FIONREAD, &bytes), 0);
	return bytes;
}

static void a_flood_of_events_holds_up_nobody(void **unused)
{
	static const char answer[] = "\r\n{\"return\":{\"status\":\"running\"}}\r\n" EVENT;
	bool is_over = true;
	struct qmp *q = qmp_open(folder);
	assert_non_null(q);
	int machine = accept(listener, NULL, NULL);
	flood(machine);
	int before = unread(q);
	assert_true(before > 150000);
	assert_null(qmp_receive(q, &is_over));
	assert_false(is_over);
	assert_in_range(unread(q), 1, before - 60000);

	// Who goes on asking gets to the answer.
	while (unread(q) > 0)
		assert_null(qmp_receive(q, &is_over));
	assert_int_equal(send(machine, answer, strlen(answer), MSG_NOSIGNAL), strlen(answer));
	json_t *said;
	while (!(said = qmp_receive(q, &is_over)) || json_object_size(said) == 0) {
		assert_false(is_over);
		json_decref(said);
	}
	assert_non_null(json_object_get(said, "return"));
	json_decref(said);

	flood(machine);
	close(machine);
	for (int turns = 0; !is_over; turns++) {
		assert_null(qmp_receive(q, &is_over));
		assert_true(turns < 100);
	}
	qmp_close(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_flood_of_events_holds_up_nobody, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
