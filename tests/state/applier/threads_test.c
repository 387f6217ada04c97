// The applier on its own threads: readers that walk while it writes, snapshots while it deletes,
// sleepers that it wakes, a log that blocks, has no room or breaks, and every way to stop.
#include "state/base/memory.h"
#include "state/records/allocation_end.h"
#include "tests/support/readers.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static const struct resources tiny = {10, 10, 1};

enum { NODES = 40, ROUNDS = 150 };

static void start(struct controller *c, int64_t collect_after_ms)
{
	controller_init(c, (struct state_limits){0});
	c->collect_after_ms = collect_after_ms;
	controller_open(c);
	for (uint32_t i = 0; i < NODES; i++)
		controller_register(c, i, NULL);
	controller_job(c, build_job("web", &tiny, 1));
	c->source = time_source_real;
	controller_start(c, sched_getcpu());
}

static void count_done(struct command *command)
{
	__atomic_add_fetch((uint32_t *)command->context, 1, __ATOMIC_RELEASE);
}

static void look_at(struct reader *r, const struct allocation *a, uint64_t *last)
{
	const struct state *state = r->controller->state;
	const struct node *n = state_node_at(state, a->node_slot);

	r->wrong += a->record.create_index <= *last || a->record.deleted;
	r->wrong += !n || !uuid_equal(&n->id, &a->node_id) || strcmp(n->name, "a-node") != 0;
	r->wrong += strcmp(a->job->id, "web") != 0 || strcmp(n->node_class->pool, "default") != 0;
	r->wrong += allocation_is_terminal(a) != (a->end_cause != END_NONE);
	*last = a->record.create_index;
}

static void *read_all(void *argument)
{
	struct reader *r = argument;
	const struct state *state = r->controller->state;

	while (!r->stop) {
		const struct allocation *a;
		uint64_t cursor = 0, last = 0;
		do { // with the cursor alone across sections
			state_read_begin();
			for (int i = 0;
				(a = state_next(state, STATE_ALLOCATIONS, &cursor)) && i < 16; i++)
				look_at(r, a, &last);
			state_read_end();
			sched_yield(); // or the others wait a slice of time for each step
		} while (a);
		r->rounds++;
	}
	return NULL;
}

static void *sleep_for_news(void *argument)
{
	struct reader *r = argument;
	struct state *state = r->controller->state;
	uint64_t index = 0;

	while (!r->stop) {
		uint64_t now = state_wait(state, index, 50);
		r->wrong += now < index;
		r->rounds += now > index;
		index = now;
	}
	return NULL;
}

static void one_round(struct controller *c, struct node_registration *node, uint32_t round)
{
	struct command_place place = {.client = TEXT("ann"),
		.issued_ms = (int64_t)(time_wall_ns(&time_source_real) / 1000000),
		.request = round,
		.count = 30,
		.job = TEXT("web"),
		.group = TEXT("g0")};
	struct command_release release = {.any_client = true, .count = 30};
	struct command command = {.type = COMMAND_PLACE, .place = &place};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	for (int i = 0; i < 30; i++)
		release.ids[i] = place.items[i].allocation;
	command = (struct command){.type = COMMAND_RELEASE, .release = &release};
	if (round % 3)
		assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	build_node(node, round % NODES, (uint64_t)place.issued_ms + 1000000 + round);
	command = (struct command){.type = COMMAND_NODE_REGISTER, .node_register = node};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	command = (struct command){
		.type = COMMAND_NODE_EXPIRED, .node = {node->slot, node->generation}};
	if (round % 5 == 0)
		assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	command = (struct command){.type = COMMAND_COLLECT};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void readers_see_whole_records(void **unused)
{
	struct node_registration *node = memory_take(sizeof *node);
	struct controller c;
	reader_body *const bodies[] = {read_all, read_all, reader_of_snapshots, sleep_for_news};
	struct reader readers[4];

	start(&c, 0);
	readers_start(readers, bodies, 4, &c);
	for (uint32_t round = 0; round < ROUNDS; round++)
		one_round(&c, node, round);
	readers_stop(readers, 4);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

static void loops_are_told(void **unused)
{
	struct controller c;
	struct command command = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};

	start(&c, CONTROLLER_COLLECT_AFTER_MS);
	int fd = state_watch_fd(c.state);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	assert_true(fd >= 0);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_int_equal(controller_run(&c, &command), OUTCOME_DONE);
	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	state_unwatch_fd(c.state, fd);
	close(fd);
	assert_int_equal(
		state_wait(c.state, state_index(c.state) - 1, 10000), state_index(c.state));
	assert_int_equal(state_wait(c.state, state_index(c.state), 1), state_index(c.state));
	applier_stop(c.applier, 1000);
	controller_free(&c);
}

// While the log is busy with one batch the next is decided, and both come out.
static void the_next_batch_is_decided_meanwhile(void **unused)
{
	struct controller c;
	struct command commands[NODES];
	uint32_t done = 0;

	start(&c, CONTROLLER_COLLECT_AFTER_MS);
	uint32_t batches = c.log.count;
	uint32_t appends = c.log.appends;
	c.log.block = 1;
	for (uint32_t i = 0; i < NODES; i++) {
		commands[i] = (struct command){
			.type = COMMAND_NODE_GOODBYE, .node = {.slot = i, .generation = 1}};
		controller_push(&c, &commands[i], &done);
		while (i == 0 && c.log.appends == appends)
			sched_yield();
	}
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 0);
	while (command_queue_depth(c.queue) > 0) // decided, though nothing came back yet
		sched_yield();
	c.log.block = 0;
	controller_await(&done, NODES);
	applier_stop(c.applier, 1000);
	assert_true(c.log.count - batches < NODES); // grouped
	controller_verify(&c);
	controller_free(&c);
}

// More than a batch holds waits while the log is busy; the rest stays in the rings.
static void a_full_batch_waits_for_the_log(void **unused)
{
	enum { RINGS = 3, EACH = COMMAND_RING_SLOTS - 1 };
	const uint16_t producers[RINGS] = {0, 1, COMMAND_PRODUCER_SHARED};
	struct command *commands = memory_take_array(RINGS * EACH, sizeof *commands);
	struct controller c;
	uint32_t done = 0, pushed = 0;

	start(&c, CONTROLLER_COLLECT_AFTER_MS);
	uint32_t appends = c.log.appends;
	c.log.block = 1;
	for (uint32_t i = 0; i < RINGS * EACH; i++) {
		commands[i] = (struct command){
			.type = i % 2 ? COMMAND_NODE_RETURNED : COMMAND_NODE_EXPIRED,
			.node = {0, 1},
			.done = count_done,
			.context = &done};
		pushed += command_queue_push(c.queue, producers[i % RINGS], &commands[i]);
		while (i == 0 && c.log.appends == appends)
			sched_yield();
	}
	while (command_queue_depth(c.queue) + BATCH_COMMANDS_MAX > pushed)
		sched_yield();
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 0);
	c.log.block = 0;
	controller_await(&done, pushed);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
	free(commands);
}

// From the second command on that is alone the applier journals such commands itself.
static void start_calmly(struct controller *c)
{
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {NODES - 1, 1}};

	start(c, CONTROLLER_COLLECT_AFTER_MS);
	assert_int_equal(controller_run(c, &change), OUTCOME_DONE);
}

typedef void start_somehow(struct controller *);

static void start_busily(struct controller *c)
{
	start(c, CONTROLLER_COLLECT_AFTER_MS);
}

static void survive_no_room(start_somehow *begin)
{
	struct controller c;
	struct node_registration *node = memory_take(sizeof *node);
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	struct command growth = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	uint32_t done = 0;

	begin(&c);
	c.log.error = -ENOSPC;
	controller_push(&c, &change, &done);
	while (applier_counters(c.applier)->log_waits == 0)
		sched_yield();
	build_node(node, 999, 1);
	assert_int_equal(controller_run(&c, &growth), OUTCOME_STORE_FULL);
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 0);
	c.log.error = 0;
	controller_await(&done, 1);
	assert_int_equal(change.outcome, OUTCOME_DONE);
	assert_int_equal(controller_run(&c, &growth), OUTCOME_DONE);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

static void no_room_is_survived(void **unused)
{
	survive_no_room(start_busily);
	survive_no_room(start_calmly);
}

static void stop_on_a_full_disk(start_somehow *begin)
{
	struct controller c;
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	uint32_t done = 0;

	begin(&c);
	c.log.error = -ENOSPC;
	controller_push(&c, &change, &done);
	while (applier_counters(c.applier)->log_waits == 0)
		sched_yield();
	applier_stop(c.applier, 20);
	assert_int_equal(done, 1);
	assert_int_equal(change.outcome, OUTCOME_STOPPING);
	controller_free(&c);
}

static void stopping_gives_up_a_full_disk(void **unused)
{
	stop_on_a_full_disk(start_busily);
	stop_on_a_full_disk(start_calmly);
}

static void stopping_finishes_what_waits(void **unused)
{
	struct controller c;
	struct command commands[NODES];
	uint32_t done = 0;

	start(&c, CONTROLLER_COLLECT_AFTER_MS);
	for (uint32_t i = 0; i < NODES; i++) {
		commands[i] = (struct command){
			.type = COMMAND_NODE_EXPIRED, .node = {.slot = i, .generation = 1}};
		controller_push(&c, &commands[i], &done);
	}
	applier_stop(c.applier, UINT32_MAX);
	assert_int_equal(done, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(commands[i].outcome, OUTCOME_DONE);
	controller_verify(&c);
	controller_free(&c);
}

static void break_the_log(start_somehow *begin)
{
	struct controller c;
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	struct command later = {.type = COMMAND_NODE_EXPIRED, .node = {1, 1}};
	uint32_t done = 0, refused = 0;

	begin(&c);
	c.log.error = -EIO;
	controller_push(&c, &change, &done);
	while (__atomic_load_n(&c.log_error, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	controller_push(&c, &later, &refused);
	controller_await(&refused, 1);
	assert_int_equal(later.outcome, OUTCOME_STOPPING);
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 0);
	applier_stop(c.applier, 1000);
	assert_int_equal(done, 1);
	assert_int_equal(change.outcome, OUTCOME_STOPPING);
	controller_free(&c);
}

static void a_broken_log_stops_all(void **unused)
{
	break_the_log(start_busily);
	break_the_log(start_calmly);
}

// Until both are as asked for.
static struct applier_work await_work(const struct controller *c, bool turn, bool append)
{
	struct applier_work work;

	do
		work = applier_work(c->applier);
	while ((work.turn_ns > 0) != turn || (work.append_ns > 0) != append);
	return work;
}

static void wait_to_go_on(struct command *command)
{
	const _Atomic bool *may_go_on = command->context;

	while (!atomic_load(may_go_on))
		sched_yield();
}

// Where the threads stand still is seen, and for how long.
static void tell_what_goes_on(start_somehow *begin)
{
	struct controller c;
	_Atomic bool may_go_on = false;
	struct command change = {.type = COMMAND_NODE_EXPIRED,
		.node = {0, 1},
		.done = wait_to_go_on,
		.context = (void *)&may_go_on};

	begin(&c);
	(void)await_work(&c, false, false);
	c.log.block = 1;
	assert_true(command_queue_push(c.queue, COMMAND_PRODUCER_SHARED, &change));
	uint64_t append_ns = await_work(&c, false, true).append_ns;
	assert_true(await_work(&c, false, true).append_ns > append_ns);
	c.log.block = 0;
	uint64_t turn_ns = await_work(&c, true, false).turn_ns;
	assert_true(await_work(&c, true, false).turn_ns > turn_ns);
	atomic_store(&may_go_on, true);
	(void)await_work(&c, false, false);
	applier_stop(c.applier, 1000);
	controller_free(&c);
}

static void what_goes_on_is_told(void **unused)
{
	tell_what_goes_on(start_busily);
	tell_what_goes_on(start_calmly);
}

// Holds the applier until so many commands wait; they are one batch then.
static void change_together(struct controller *c, uint32_t count)
{
	struct command commands[NODES];
	_Atomic bool may_go_on = false;
	struct command first = {.type = COMMAND_NODE_EXPIRED,
		.node = {0, 1},
		.done = wait_to_go_on,
		.context = (void *)&may_go_on};
	uint32_t done = 0;

	assert_true(command_queue_push(c->queue, COMMAND_PRODUCER_SHARED, &first));
	(void)await_work(c, true, false);
	for (uint32_t i = 0; i < count; i++) {
		commands[i] = (struct command){
			.type = COMMAND_NODE_GOODBYE, .node = {.slot = 1 + i, .generation = 1}};
		controller_push(c, &commands[i], &done);
	}
	atomic_store(&may_go_on, true);
	controller_await(&done, count);
}

static uintptr_t journal_one(struct controller *c, uint32_t slot)
{
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {slot, 1}};

	assert_int_equal(controller_run(c, &change), OUTCOME_DONE);
	return atomic_load(&c->log.thread);
}

// A command that is alone needs no thread but the applier's; what comes together does, and so does the first after it.
static void a_command_alone_is_journalled_by_the_applier(void **unused)
{
	struct controller c;

	start(&c, CONTROLLER_COLLECT_AFTER_MS);
	uintptr_t journal = journal_one(&c, NODES - 1), applier = journal_one(&c, NODES - 2);
	assert_true(journal != applier);
	assert_true(journal_one(&c, NODES - 3) == applier);
	change_together(&c, 5);
	assert_true(atomic_load(&c.log.thread) == journal);
	assert_true(journal_one(&c, NODES - 4) == journal);
	assert_true(journal_one(&c, NODES - 5) == applier);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
}

// While the applier journals a command that is alone, what comes waits in the rings, and goes together afterwards.
static void what_comes_meanwhile_waits_for_one_append(void **unused)
{
	struct controller c;
	struct command commands[NODES];
	uint32_t done = 0;

	start_calmly(&c);
	uint32_t appends = c.log.appends;
	c.log.block = 1;
	for (uint32_t i = 0; i < NODES - 1; i++) {
		commands[i] = (struct command){
			.type = COMMAND_NODE_GOODBYE, .node = {.slot = i, .generation = 1}};
		controller_push(&c, &commands[i], &done);
		while (i == 0 && c.log.appends == appends)
			sched_yield();
	}
	assert_int_equal(__atomic_load_n(&done, __ATOMIC_ACQUIRE), 0);
	assert_int_equal(command_queue_depth(c.queue), NODES - 2);
	c.log.block = 0;
	controller_await(&done, NODES - 1);
	applier_stop(c.applier, 1000);
	assert_true(c.log.appends - appends <= 4);
	controller_verify(&c);
	controller_free(&c);
}

// It runs elsewhere then.
static void a_processor_that_is_not_there_is_no_obstacle(void **unused)
{
	struct controller c;
	struct node_registration *node = memory_take(sizeof *node);
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	uint32_t done = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	assert_int_equal(applier_start(c.applier, CPU_SETSIZE - 1), 0);
	build_node(node, 1, (uint64_t)controller_now_ms(&c));
	controller_push(&c, &command, &done);
	controller_await(&done, 1);
	assert_int_equal(command.outcome, OUTCOME_DONE);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
	free(node);
}

static void a_loop_that_gets_no_file_is_told(void **unused)
{
	struct controller c;
	struct rlimit before;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
	int fd = state_watch_fd(c.state);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fd, -EMFILE);
	fd = state_watch_fd(c.state);
	assert_true(fd >= 0);
	controller_register(&c, 1, NULL);
	struct pollfd told = {fd, POLLIN, 0};
	assert_int_equal(poll(&told, 1, 0), 1); // the one that it has is told
	state_unwatch_fd(c.state, fd);
	close(fd);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_processor_that_is_not_there_is_no_obstacle),
		cmocka_unit_test(a_loop_that_gets_no_file_is_told),
		cmocka_unit_test(readers_see_whole_records),
		cmocka_unit_test(loops_are_told),
		cmocka_unit_test(the_next_batch_is_decided_meanwhile),
		cmocka_unit_test(a_full_batch_waits_for_the_log),
		cmocka_unit_test(no_room_is_survived),
		cmocka_unit_test(stopping_gives_up_a_full_disk),
		cmocka_unit_test(stopping_finishes_what_waits),
		cmocka_unit_test(a_broken_log_stops_all),
		cmocka_unit_test(what_goes_on_is_told),
		cmocka_unit_test(a_command_alone_is_journalled_by_the_applier),
		cmocka_unit_test(what_comes_meanwhile_waits_for_one_append),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
