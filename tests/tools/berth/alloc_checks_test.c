// What people see of an allocation's checks, as a real server's client once answered.
#include "tests/tools/agent/check/listener.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
#define ALLOC "7a42bd0a-4bc7-d9cb-43d4-6a1a260c1352"

static struct listener server;

static int begin(void **unused)
{
	listener_open(&server, HEAD "{}");
	run_begin(server.port);
	return 0;
}

static int end(void **unused)
{
	run_end();
	listener_close(&server);
	return 0;
}

static void each_check_is_shown(void **unused)
{
	atomic_store(&server.answer,
		HEAD "{\"fe59a563d9eaf02ed1dac6dd28a0e762\":{\"Check\":\"tcp-ok\",\"Group\":"
		     "\"chk2.g[0]\",\"ID\":\"fe59a563d9eaf02ed1dac6dd28a0e762\",\"Mode\":"
		     "\"healthiness\",\"Output\":\"nomad: tcp ok\",\"Service\":\"chk\",\"Status\":"
		     "\"success\",\"Timestamp\":1795361868},\"17b9b2a97a515a5681ff65080e667f6a\":{"
		     "\"Check\":\"http-bad\",\"Group\":\"chk2.g[0]\",\"ID\":"
		     "\"17b9b2a97a515a5681ff65080e667f6a\",\"Mode\":\"readiness\",\"Output\":"
		     "\"first\\nsecond\",\"Service\":\"chk\",\"Status\":\"failure\",\"StatusCode\":"
		     "404,\"Task\":\"web\",\"Timestamp\":1795361868}}");
	expect_run("alloc checks " ALLOC, 0, "Status of 2 service checks\n", "");
	static const char *const parts[] = {"= tcp-ok\n", "= (group)\n", "= success\n", "= 404\n",
		"= web\n", "= 2026-11-22T", "= nomad: tcp ok\n", "= first\n"};
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		assert_non_null(strstr(run.out, parts[i]));
	assert_true(atomic_load(&server.requests) > 0); // so that what was asked is seen here, too
	assert_non_null(
		strstr(server.request, "GET /v1/client/allocation/" ALLOC "/checks HTTP/1.1\r\n"));
}

static void there_may_be_none(void **unused)
{
	atomic_store(&server.answer, HEAD "{}");
	expect_run("alloc checks " ALLOC, 0, "the allocation has no checks\n", "");
	expect_run("alloc checks --json " ALLOC, 0, "{}", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_check_is_shown),
		cmocka_unit_test(there_may_be_none),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
