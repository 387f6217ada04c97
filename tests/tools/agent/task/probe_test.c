// The node's probe with real processes.
#include "state/base/time_units.h"
#include "tools/agent/task/probe.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

// Asks and waits for the end of the process; the clock is the test's.
static enum probe_answer ask(struct probe *p, uint64_t now_ns)
{
	probe_ask(p, now_ns);
	if (probe_step(p, now_ns))
		return p->answer;
	struct pollfd polled = {.fd = p->fd, .events = POLLIN};
	assert_int_equal(poll(&polled, 1, 20000), 1);
	assert_true(probe_step(p, now_ns));
	return p->answer;
}

static enum probe_answer answer_of(const char *command)
{
	struct probe p;
	struct probe_settings settings = {command, 100, 1000};
	probe_open(&p, &settings);
	enum probe_answer answer = ask(&p, 5 * NS_PER_MS);
	probe_close(&p);
	return answer;
}

static void the_exit_status_is_the_answer(void **unused)
{
	assert_int_equal(answer_of(NULL), PROBE_YES);
	assert_int_equal(answer_of("true"), PROBE_YES);
	assert_int_equal(answer_of("exit 1"), PROBE_NO);
	assert_int_equal(answer_of("exit 69"), PROBE_NEVER);
	assert_int_equal(answer_of("kill -9 $$"), PROBE_NO);
}

static void it_waits_longer_each_time(void **unused)
{
	struct probe p;
	struct probe_settings settings = {"false", 100, 1000};
	uint64_t now_ns = NS_PER_MS;
	probe_open(&p, &settings);
	assert_int_equal(probe_due_ns(&p), UINT64_MAX);
	for (uint32_t wait_ms = 100; wait_ms < PROBE_BACKOFF_CAP_MS; wait_ms *= 2) {
		assert_int_equal(ask(&p, now_ns), PROBE_NO);
		assert_int_equal(p.waits_ms, wait_ms);
		assert_int_equal(probe_due_ns(&p), now_ns + wait_ms * NS_PER_MS);
		now_ns = probe_due_ns(&p);
	}
	assert_int_equal(ask(&p, now_ns), PROBE_NO);
	assert_int_equal(p.waits_ms, PROBE_BACKOFF_CAP_MS);
	probe_rest(&p);
	assert_int_equal(probe_due_ns(&p), UINT64_MAX);
	probe_close(&p);
}

static void one_that_takes_too_long_is_killed(void **unused)
{
	struct probe p;
	struct probe_settings settings = {"sleep 1000", 100, 50};
	probe_open(&p, &settings);
	probe_ask(&p, NS_PER_MS);
	assert_false(probe_step(&p, NS_PER_MS));
	assert_int_equal(probe_due_ns(&p), 51 * NS_PER_MS);
	assert_false(probe_step(&p, 51 * NS_PER_MS));
	struct pollfd polled = {.fd = p.fd, .events = POLLIN};
	assert_int_equal(poll(&polled, 1, 20000), 1);
	assert_true(probe_step(&p, 52 * NS_PER_MS));
	assert_int_equal(p.answer, PROBE_NO);
	probe_close(&p);
}

static void expect_not_started(const char *command)
{
	struct probe p;
	struct probe_settings settings = {command, 100, 1000};
	probe_open(&p, &settings);
	probe_ask(&p, NS_PER_MS);
	assert_true(probe_step(&p, NS_PER_MS));
	assert_int_equal(p.answer, PROBE_NO);
	assert_int_equal(p.process, 0);
	assert_int_equal(p.fd, -1);
	assert_int_equal(probe_due_ns(&p), 101 * NS_PER_MS); // it is tried again
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);    // nothing was left
	probe_close(&p);
}

static void one_that_cannot_be_started_is_a_no(void **unused)
{
	static char endless[256 * 1024]; // longer than an argument may be
	struct rlimit whole, none;
	memset(endless, ' ', sizeof endless - 1);
	expect_not_started(endless);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	none = whole;
	none.rlim_cur = 3; // enough for what it runs, not for watching it
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	expect_not_started("true");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_is_the_answer),
		cmocka_unit_test(it_waits_longer_each_time),
		cmocka_unit_test(one_that_takes_too_long_is_killed),
		cmocka_unit_test(one_that_cannot_be_started_is_a_no),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
