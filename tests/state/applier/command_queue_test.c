#include "state/applier/command_queue.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORKERS = 2, SHARED = 2, EACH = 20000 };

static void full_is_refused(void **unused)
{
	struct command_queue *q = command_queue_create(1);
	struct command command, *taken[8];
	uint32_t pushed = 0;

	while (command_queue_push(q, 0, &command))
		pushed++;
	assert_int_equal(pushed, COMMAND_RING_SLOTS - 1);
	assert_int_equal(command_queue_depth(q), pushed);
	assert_true(command_queue_push(q, COMMAND_PRODUCER_SHARED, &command)); // another ring
	assert_int_equal(command_queue_take(q, taken, 8), 8);
	assert_true(command_queue_push(q, 0, &command));
	command_queue_destroy(q);
}

static void nobody_starves(void **unused)
{
	struct command_queue *q = command_queue_create(2);
	struct command a = {.index = 0}, b = {.index = 1}, shared = {.index = 2}, *taken[6];
	uint32_t seen[3] = {0};

	for (int i = 0; i < 100; i++) {
		command_queue_push(q, 0, &a);
		command_queue_push(q, 1, &b);
		command_queue_push(q, COMMAND_PRODUCER_SHARED, &shared);
	}
	assert_int_equal(command_queue_take(q, taken, 6), 6);
	for (int i = 0; i < 6; i++)
		seen[taken[i]->index]++;
	assert_true(seen[0] == 2 && seen[1] == 2 && seen[2] == 2);
	command_queue_destroy(q);
}

static void waiting_ends(void **unused)
{
	struct command_queue *q = command_queue_create(0);
	struct command command, *taken;

	command_queue_wait(q, 1000); // nothing comes: the time passes
	command_queue_kick(q);
	command_queue_wait(q, 3600u * 1000000); // a kick before is not lost
	assert_true(command_queue_push(q, COMMAND_PRODUCER_SHARED, &command));
	command_queue_wait(q, 3600u * 1000000);
	assert_int_equal(command_queue_take(q, &taken, 1), 1);
	command_queue_destroy(q);
}

struct producer {
	struct command_queue *queue;
	struct command *commands;
	uint16_t number;
};

static void *produce(void *argument)
{
	struct producer *p = argument;

	for (uint32_t i = 0; i < EACH; i++)
		while (!command_queue_push(p->queue, p->number, &p->commands[i]))
			sched_yield();
	return NULL;
}

// Every command arrives once, in its producer's order, and no wake-up is lost: the waits have no
// end.
static void nothing_is_lost(void **unused)
{
	struct command_queue *q = command_queue_create(WORKERS);
	struct producer producers[WORKERS + SHARED];
	pthread_t threads[WORKERS + SHARED];
	uint64_t next[WORKERS + SHARED] = {0};
	uint32_t received = 0;

	for (uint32_t i = 0; i < WORKERS + SHARED; i++) {
		producers[i] = (struct producer){q, memory_take_array(EACH, sizeof(struct command)),
			i < WORKERS ? (uint16_t)i : COMMAND_PRODUCER_SHARED};
		for (uint32_t j = 0; j < EACH; j++)
			producers[i].commands[j] =
				(struct command){.index = j, .context = &next[i]};
		assert_int_equal(pthread_create(&threads[i], NULL, produce, &producers[i]), 0);
	}
	while (received < (WORKERS + SHARED) * EACH) {
		struct command *taken[100];
		uint32_t count = command_queue_take(q, taken, 100);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(taken[i]->index, (*(uint64_t *)taken[i]->context)++);
		received += count;
		if (count == 0)
			command_queue_wait(q, 3600u * 1000000);
	}
	for (uint32_t i = 0; i < WORKERS + SHARED; i++) {
		pthread_join(threads[i], NULL);
		free(producers[i].commands);
	}
	assert_int_equal(command_queue_depth(q), 0);
	command_queue_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_is_refused),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(waiting_ends),
		cmocka_unit_test(nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
