// Starts of the API that run out of descriptors, wherever that is: each says so and leaves nothing, and the last one
// serves.
#include "state/base/time_source.h"
#include "tests/tools/api/server.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define MORE_MAX 2000

static char folder[] = "/tmp/berth-start-XXXXXX", path[64], audit[64];

static int set_up(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/api.sock", folder);
	snprintf(audit, sizeof audit, "%s/audit", folder);
	return server_group_begin(unused);
}

static int tear_down(void **unused)
{
	server_group_end(unused);
	unlink(audit);
	return rmdir(folder);
}

// The lowest that is free. As all below it are taken, it tells whether one was left open.
static int next_descriptor(void)
{
	int next = dup(STDERR_FILENO);
	assert_return_code(next, 0);
	close(next);
	return next;
}

// With so many more descriptors than there are. NULL: and a sentence.
static struct api *start_with(
	const struct api_settings *settings, int more, char *message, uint32_t message_size)
{
	struct rlimit before;
	struct api *api = NULL;
	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit few = {
		.rlim_cur = (rlim_t)(next_descriptor() + more), .rlim_max = before.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &few), 0);
	int error = api_start(settings, &api, message, message_size);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true((error < 0) == !api);
	return api;
}

static void expect_no_half_start(const char *address, const char *socket)
{
	const struct api_settings settings = {.address = address,
		.socket = {.path = socket, .mode = 0600},
		.audit_path = audit,
		.state = server->state,
		.queue = server->queue,
		.time = &time_source_real};
	int next = next_descriptor(), more = 0;
	struct api *api = NULL;
	char message[512] = "";
	while (more < MORE_MAX && !(api = start_with(&settings, more, message, sizeof message))) {
		bool is_library = strstr(message, "libmicrohttpd cannot serve") != NULL;
		assert_true(*message != '\0');
		assert_int_not_equal(access(path, F_OK), 0);
		// libmicrohttpd 0.9.75 keeps descriptors of a start that it gave up.
		next = is_library ? next_descriptor() : next;
		assert_int_equal(next_descriptor(), next);
		more += is_library ? 64 : 1;
		*message = '\0';
	}
	assert_non_null(api);
	assert_true(more > 0);
	api_stop(api);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(next_descriptor(), next);
}

static void at_an_address(void **unused)
{
	expect_no_half_start("127.0.0.1", "");
}

static void at_a_path(void **unused)
{
	expect_no_half_start("", path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_an_address),
		cmocka_unit_test(at_a_path),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
