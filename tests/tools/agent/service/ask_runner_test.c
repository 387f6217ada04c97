#include "tools/agent/service/ask_runner.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define THREADS 8

static struct ask_runner *mailbox;
// Stands for the runner: the mailbox only hands it on.
static uint32_t counted;

struct asker {
	pthread_t thread;
	uint32_t timeout_ms;
	int result;
};

static void count(struct runner *runner, void *context)
{
	assert_ptr_equal(runner, &counted);
	counted++;
	*(bool *)context = true;
}

static void *ask_to_count(void *context)
{
	struct asker *a = context;
	bool ran = false;
	a->result = ask_runner(mailbox, count, &ran, a->timeout_ms);
	if (ran != (a->result == 0))
		abort();
	return NULL;
}

static void ask(struct asker *a, uint32_t timeout_ms)
{
	a->timeout_ms = timeout_ms;
	assert_int_equal(pthread_create(&a->thread, NULL, ask_to_count, a), 0);
}

static int answer_to(struct asker *a)
{
	assert_int_equal(pthread_join(a->thread, NULL), 0);
	return a->result;
}

static bool somebody_waits(int timeout_ms)
{
	struct pollfd polled = {.fd = ask_runner_fd(mailbox), .events = POLLIN};
	return poll(&polled, 1, timeout_ms) == 1;
}

static void serve(void)
{
	ask_runner_serve(mailbox, (struct runner *)&counted);
}

static int open_mailbox(void **state)
{
	mailbox = ask_runner_create();
	counted = 0;
	return mailbox ? 0 : -1;
}

static int destroy_mailbox(void **state)
{
	ask_runner_destroy(mailbox);
	return 0;
}

static void all_who_ask_are_served(void **state)
{
	struct asker askers[THREADS];
	// Often enough that somebody also asks while others are served.
	for (uint32_t round = 0; round < 200; round++) {
		counted = 0;
		for (uint32_t i = 0; i < THREADS; i++)
			ask(&askers[i], 20000);
		while (counted < THREADS) {
			assert_true(somebody_waits(20000));
			serve();
		}
		for (uint32_t i = 0; i < THREADS; i++)
			assert_int_equal(answer_to(&askers[i]), 0);
		assert_false(somebody_waits(0));
	}
}

static void a_question_that_nobody_answers_is_withdrawn(void **state)
{
	struct asker late[3];
	for (uint32_t i = 0; i < 3; i++)
		ask(&late[i], 10 + 10 * i);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(answer_to(&late[i]), -ETIMEDOUT);
	serve();
	assert_int_equal(counted, 0);
	struct asker next;
	ask(&next, 20000);
	assert_true(somebody_waits(20000));
	serve();
	assert_int_equal(answer_to(&next), 0);
	assert_int_equal(counted, 1);
}

static void a_closed_mailbox_refuses(void **state)
{
	struct asker waiting, later;
	ask(&waiting, 20000);
	assert_true(somebody_waits(20000));
	ask_runner_close(mailbox);
	assert_int_equal(answer_to(&waiting), -ESHUTDOWN);
	ask(&later, 20000);
	assert_int_equal(answer_to(&later), -ESHUTDOWN);
	serve();
	assert_int_equal(counted, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			all_who_ask_are_served, open_mailbox, destroy_mailbox),
		cmocka_unit_test_setup_teardown(
			a_question_that_nobody_answers_is_withdrawn, open_mailbox, destroy_mailbox),
		cmocka_unit_test_setup_teardown(
			a_closed_mailbox_refuses, open_mailbox, destroy_mailbox),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
