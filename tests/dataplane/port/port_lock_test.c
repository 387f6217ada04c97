// Two daemons want one queue: the second is told who has it.
#include "dataplane/port/port_lock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/port-lock.XXXXXX";

static int take(struct port_lock *lock, const struct device *d, uint32_t queue, char message[256])
{
	message[0] = '\0';
	return port_lock_take(lock, directory, d, 0, queue, message, 256);
}

static void the_second_is_refused(void **state)
{
	struct device d = {.interface = "lo", .name = "net_af_xdp0"};
	struct port_lock first, second, other;
	char message[256], pid[32];
	assert_int_equal(take(&first, &d, 0, message), 0);
	assert_int_equal(take(&second, &d, 0, message), -16);
	snprintf(pid, sizeof pid, "process %ld,", (long)getpid());
	assert_non_null(strstr(message, pid));
	assert_non_null(strstr(message, "queue 0 of lo"));
	assert_int_equal(second.fd, -1);
	assert_int_equal(take(&other, &d, 1, message), 0); // another queue
	port_lock_release(&first);
	assert_int_equal(take(&second, &d, 0, message), 0);
	port_lock_release(&second);
	port_lock_release(&other);
}

static void a_function_is_locked_by_its_address(void **state)
{
	struct device d = {.pci = "0000:03:00.0", .name = "0000:03:00.0"};
	struct port_lock first, second;
	char message[256];
	assert_int_equal(take(&first, &d, 3, message), 0);
	assert_int_equal(take(&second, &d, 3, message), -16);
	port_lock_release(&first);
	assert_int_equal(access(first.path, F_OK), -1); // nothing is left behind
}

static void what_nobody_else_can_have_is_not_locked(void **state)
{
	struct device d = {.arguments = "net_null0", .name = "net_null0"};
	struct port_lock first;
	char message[256];
	assert_int_equal(take(&first, &d, 0, message), 0);
	assert_int_equal(first.fd, -1);
	port_lock_release(&first);
}

static void without_a_directory_it_goes_on(void **state)
{
	struct device d = {.interface = "lo"};
	struct port_lock lock;
	char message[256] = "";
	assert_int_equal(
		port_lock_take(&lock, "/proc/none/such", &d, 0, 0, message, sizeof message), 0);
	assert_int_equal(lock.fd, -1);
}

static int directory_remove(void **state)
{
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_is_refused),
		cmocka_unit_test(a_function_is_locked_by_its_address),
		cmocka_unit_test(what_nobody_else_can_have_is_not_locked),
		cmocka_unit_test(without_a_directory_it_goes_on),
	};
	if (mkdtemp(directory) == NULL)
		return EXIT_FAILURE;
	return cmocka_run_group_tests(tests, NULL, directory_remove);
}
