// Several batches on their way into a log that takes them in any order: what is small does not wait for those before
// it, and yet nobody is answered, and nothing is visible, before all that was decided earlier is durable.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "tests/support/core/builders.h"
#include "tests/support/core/core.h"
#include "tests/support/first_fit.h"
#include "tests/support/memory_log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 200, TOGETHER = 4, BATCHES_MAX = 1024, WITHIN_S = 20 };

struct gate {
	uint64_t first_index;
	uint32_t indexes, size;
	void *data;
	bool is_open;
	int error; // of the append, once it is open
};

// Each append stands before a gate of its own, until the test opens it.
static struct {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	struct gate gates[BATCHES_MAX];
	uint32_t count;
	bool are_open; // from the first
	_Atomic int failed;
} door;

static struct core core;
static struct command commands[NODES];
static uint64_t answered_at[NODES]; // published index then
static _Atomic uint32_t answered;

static int append(
	void *context, uint64_t first_index, uint32_t indexes, const void *batch, uint32_t size)
{
	pthread_mutex_lock(&door.lock);
	assert_true(door.count < BATCHES_MAX);
	struct gate *gate = &door.gates[door.count++];
	*gate = (struct gate){first_index, indexes, size, memory_take(size), door.are_open, 0};
	memcpy(gate->data, batch, size);
	while (!gate->is_open)
		pthread_cond_wait(&door.opened, &door.lock);
	int error = gate->error;
	pthread_mutex_unlock(&door.lock);
	return error;
}

static int64_t room_bytes(void *context)
{
	return INT64_MAX;
}

static void note_failure(void *context, int error)
{
	atomic_store(&door.failed, error);
}

static void open_gate(uint32_t which, int error)
{
	pthread_mutex_lock(&door.lock);
	assert_true(which < door.count && !door.gates[which].is_open);
	door.gates[which].error = error;
	door.gates[which].is_open = true;
	pthread_cond_broadcast(&door.opened);
	pthread_mutex_unlock(&door.lock);
}

static uint32_t gates(void)
{
	pthread_mutex_lock(&door.lock);
	uint32_t count = door.count;
	pthread_mutex_unlock(&door.lock);
	return count;
}

static void await_count(uint32_t (*count)(void), uint32_t wanted)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + WITHIN_S * NS_PER_S;

	while (count() < wanted) {
		if (time_monotonic_ns(&time_source_real) > until_ns)
			fail_msg("%u of %u", count(), wanted);
		sched_yield();
	}
}

static uint32_t answers(void)
{
	return atomic_load(&answered);
}

static void note_answer(struct command *c)
{
	answered_at[c - commands] = state_index(core.state);
	atomic_fetch_add(&answered, 1);
}

static void begin(uint32_t together)
{
	struct command_log log = {.append = append,
		.room_bytes = room_bytes,
		.is_remote = true,
		.together = together};

	memset(&door, 0, sizeof door);
	pthread_mutex_init(&door.lock, NULL);
	pthread_cond_init(&door.opened, NULL);
	door.are_open = true;
	core_create(&core, (struct state_limits){0}, 1);
	core_appoint(&core, (struct applier_settings){.log = log,
				    .placer = first_fit_placer(core.state),
				    .seed = 7,
				    .log_failed = note_failure});
	assert_int_equal(core_open(&core), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		struct node_registration *node = memory_take(sizeof *node);
		describe_plain_node(node, i, 1);
		assert_int_equal(core_join(&core, node), OUTCOME_DONE);
		free(node);
		commands[i] = (struct command){
			.type = COMMAND_NODE_EXPIRED, .node = {i, 1}, .done = note_answer};
	}
	door.are_open = false;
	atomic_store(&answered, 0);
	core_start(&core, -1);
}

static void end(void)
{
	core_destroy(&core);
	for (uint32_t i = 0; i < door.count; i++)
		free(door.gates[i].data);
	pthread_cond_destroy(&door.opened);
	pthread_mutex_destroy(&door.lock);
}

static void push(uint32_t i)
{
	commands[i].submitted_ns = time_monotonic_ns(core.time);
	assert_true(command_queue_push(core.queue, COMMAND_PRODUCER_SHARED, &commands[i]));
}

// Each stands before its gate before the next is asked for.
static void push_beside(uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		uint32_t before = gates();
		push(i);
		await_count(gates, before + 1);
	}
}

static void await_decided(void)
{
	while (command_queue_depth(core.queue) > 0)
		sched_yield();
}

static void small_ones_go_side_by_side_and_are_answered_in_order(void **unused)
{
	begin(TOGETHER);
	uint32_t first = gates();
	uint64_t index = state_index(core.state);
	push_beside(0, TOGETHER);
	push(TOGETHER); // there is no place for them: they wait, and go together
	push(TOGETHER + 1);
	await_decided();
	open_gate(first + 2, 0);
	open_gate(first + 1, 0);
	await_decided();
	assert_int_equal(gates(), first + TOGETHER);
	assert_int_equal(answers(), 0);
	assert_int_equal(state_index(core.state), index);
	open_gate(first, 0);
	await_count(answers, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(answered_at[i], index + 1 + i);
	await_count(gates, first + TOGETHER + 1);
	open_gate(first + TOGETHER, 0);
	await_decided();
	assert_int_equal(answers(), 3);
	open_gate(first + 3, 0);
	await_count(answers, TOGETHER + 2);
	assert_int_equal(door.gates[first + TOGETHER].indexes, 2);
	assert_int_equal(state_index(core.state), index + TOGETHER + 2);
	core_stop(&core, 1000);
	end();
}

static void behind_one_that_fails_nothing_is_acknowledged(void **unused)
{
	begin(TOGETHER);
	uint32_t first = gates();
	uint64_t index = state_index(core.state);
	push_beside(0, 3);
	open_gate(first + 1, 0);
	open_gate(first, -EIO);
	while (!atomic_load(&door.failed))
		sched_yield();
	open_gate(first + 2, 0);
	core_stop(&core, 1000);
	assert_int_equal(answers(), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(commands[i].outcome, OUTCOME_STOPPING);
	assert_int_equal(state_index(core.state), index);
	end();
}

enum { JOBS = 3 };

static struct command jobs[JOBS];
static _Atomic uint32_t registered;

static void note_registered(struct command *c)
{
	atomic_fetch_add(&registered, 1);
}

static uint32_t registrations(void)
{
	return atomic_load(&registered);
}

static void push_job(uint32_t i, uint32_t bytes)
{
	char id[16];

	snprintf(id, sizeof id, "job-%u", i);
	struct job *job = plain_job(id, JOB_DIRECT);
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	add_plain_group(job, "g", (struct resources){.cpu_mhz = 100});
	free(job->name);
	job->name = memory_take(bytes + 1);
	memset(job->name, 'n', bytes);
	jobs[i] = (struct command){.type = COMMAND_JOB_REGISTER,
		.job_register = {.job = job},
		.done = note_registered,
		.submitted_ns = time_monotonic_ns(core.time)};
	assert_true(command_queue_push(core.queue, COMMAND_PRODUCER_SHARED, &jobs[i]));
	await_decided();
}

// What is large already makes others wait, and they become larger meanwhile, which costs less.
static void large_ones_go_side_by_side_once_they_are_worth_it(void **unused)
{
	begin(TOGETHER);
	uint32_t first = gates();
	atomic_store(&registered, 0);
	push_job(0, 10 * 1000);
	await_count(gates, first + 1);
	push_job(1, 10 * 1000);
	push(0); // small, but the one on its way is not
	await_decided();
	assert_int_equal(gates(), first + 1);
	push_job(2, 100 * 1000);
	await_count(gates, first + 2);
	open_gate(first, 0);
	open_gate(first + 1, 0);
	await_count(registrations, JOBS);
	assert_int_equal(door.gates[first].indexes, 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		assert_int_equal(jobs[i].outcome, OUTCOME_DONE);
		job_free(jobs[i].job_register.job);
	}
	core_stop(&core, 1000);
	end();
}

// A log that is one disk gets one after the other.
static void one_at_a_time_is_the_rule(void **unused)
{
	begin(0);
	uint32_t first = gates();
	push_beside(0, 1);
	push(1);
	push(2);
	await_decided();
	assert_int_equal(gates(), first + 1);
	open_gate(first, 0);
	await_count(gates, first + 2);
	assert_int_equal(door.gates[first + 1].indexes, 2);
	open_gate(first + 1, 0);
	await_count(answers, 3);
	core_stop(&core, 1000);
	end();
}

// The index up to which everything is durable.
static uint64_t durable_index(uint64_t from)
{
	bool goes_on = true;

	while (goes_on) {
		goes_on = false;
		for (uint32_t i = 0; i < door.count && !goes_on; i++)
			if (door.gates[i].is_open && door.gates[i].first_index == from + 1) {
				from += door.gates[i].indexes;
				goes_on = true;
			}
	}
	return from;
}

static void open_some_gate(struct prng *prng)
{
	uint32_t closed[BATCHES_MAX], count = 0;

	pthread_mutex_lock(&door.lock);
	for (uint32_t i = 0; i < door.count; i++)
		if (!door.gates[i].is_open)
			closed[count++] = i;
	pthread_mutex_unlock(&door.lock);
	if (count > 0)
		open_gate(closed[prng_u64(prng) % count], 0);
}

static void assert_replayed_alike(void)
{
	struct core other;

	core_create(&other, (struct state_limits){0}, 1);
	core_appoint(&other,
		(struct applier_settings){.placer = first_fit_placer(other.state), .seed = 9});
	for (uint64_t next = 1; next <= state_index(core.state);) {
		uint32_t i = 0;
		while (i < door.count && door.gates[i].first_index != next)
			i++;
		assert_true(i < door.count);
		assert_int_equal(
			replay_stored(other.applier, next, door.gates[i].data, door.gates[i].size),
			0);
		next += door.gates[i].indexes;
	}
	struct bytes_writer one = core_image(core.state), two = core_image(other.state);
	assert_int_equal(one.size, two.size);
	assert_memory_equal(one.data, two.data, one.size);
	bytes_writer_free(&one);
	bytes_writer_free(&two);
	core_destroy(&other);
}

// Gates open in any order: what is answered was durable with all before it, and the log tells the same state.
static void in_any_order_all_are_answered_as_if_in_one(void **unused)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct prng prng;
		uint32_t pushed = 0;

		prng_seed(&prng, seed);
		begin(1 + (uint32_t)(seed % TOGETHER));
		uint64_t index = state_index(core.state);
		while (answers() < NODES) {
			for (uint32_t n = (uint32_t)(prng_u64(&prng) % 6); n > 0 && pushed < NODES;
				n--)
				push(pushed++);
			open_some_gate(&prng);
			// Whatever is answered by now has to be durable by now.
			uint32_t told = answers();
			pthread_mutex_lock(&door.lock);
			assert_true(index + told <= durable_index(index));
			pthread_mutex_unlock(&door.lock);
		}
		for (uint32_t i = 0; i < NODES; i++) {
			assert_int_equal(commands[i].outcome, OUTCOME_DONE);
			assert_true(answered_at[i] >= index + i + 1);
		}
		core_stop(&core, 1000);
		assert_replayed_alike();
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_ones_go_side_by_side_and_are_answered_in_order),
		cmocka_unit_test(behind_one_that_fails_nothing_is_acknowledged),
		cmocka_unit_test(large_ones_go_side_by_side_once_they_are_worth_it),
		cmocka_unit_test(one_at_a_time_is_the_rule),
		cmocka_unit_test(in_any_order_all_are_answered_as_if_in_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
