// What an agent does with the controller's list of its allocations.
#include "dataplane/wire/auth.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/alloc_sync.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "node-a", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct node_session session = {.slot = 3, .generation = 1, .term = 1};
static struct readiness readiness;
static struct alloc_sync sync;
static struct alloc_run *run;

static int set_up(void **unused)
{
	struct probe_settings no_probe = {NULL, 1, 1};
	stage_open(&facts);
	run = stage_run(&id, "service", "",
		"{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"1h\"}}");
	run->version = 7;
	run->reported = run->change;
	readiness_open(&readiness, &runner, &no_probe);
	alloc_sync_start(&sync, &runner, &readiness, &session, 1, 1);
	alloc_sync_heard(&sync, 1, 1);
	return 0;
}

static int tear_down(void **unused)
{
	alloc_sync_stop(&sync);
	return stage_close();
}

// Answers the agent's question with the allocation as a controller of the term has it.
static void answer_of(
	uint64_t term, uint8_t flags, uint64_t version, uint8_t desired, uint8_t client)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_allocs_reply reply = {.index = version,
		.count = 1,
		.term = term,
		.items[0] = {.allocation = id,
			.version = version,
			.desired = desired,
			.client = client}};
	session.alloc_index = version;
	assert_true(alloc_sync_due(&sync, 1) > 0);
	assert_int_equal(sync.awaiting, WIRE_ALLOCS_REPLY);
	struct wire_header h = {.type = WIRE_ALLOCS_REPLY,
		.flags = flags,
		.slot = session.slot,
		.generation = session.generation,
		.sequence = sync.sequence};
	uint32_t size = wire_allocs_reply_encode(frame, sizeof frame, h, &reply);
	assert_true(size > 0);
	wire_sign(&session.key, frame, size);
	assert_true(alloc_sync_receive(&sync, frame, size, 1));
}

static void answer(uint64_t version, uint8_t desired, uint8_t client)
{
	answer_of(session.term, WIRE_FLAG_TERM, version, desired, client);
	assert_int_equal(sync.awaiting, 0);
}

static bool was_resumed(void)
{
	const struct task *t = &run->tasks[0];
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, "Reconnected") == 0)
			return true;
	return false;
}

// Row C7.
static void a_newer_copy_of_an_unknown_allocation_resumes_it(void **unused)
{
	answer(8, WIRE_DESIRED_RUN, WIRE_CLIENT_UNKNOWN);
	assert_true(was_resumed());
	assert_int_equal(run->change, run->reported + 1);
}

static void a_copy_that_is_not_newer_resumes_nothing(void **unused)
{
	answer(7, WIRE_DESIRED_RUN, WIRE_CLIENT_UNKNOWN);
	assert_false(was_resumed());
	assert_int_equal(run->change, run->reported);
}

static void what_is_to_stop_is_not_resumed(void **unused)
{
	answer(8, WIRE_DESIRED_STOP, WIRE_CLIENT_UNKNOWN);
	assert_false(was_resumed());
	assert_true(run->is_unwanted);
}

// It would stop what the true one wants: it is asked again, and of a newer term a heartbeat has to tell.
static void the_list_of_another_controller_stops_nothing(void **unused)
{
	static const struct {
		uint64_t term;
		uint8_t flags;
		bool wants_beat;
	} others[] = {{4, WIRE_FLAG_TERM, false}, {6, WIRE_FLAG_TERM, true}, {5, 0, false}};
	session.term = 5;
	for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		answer_of(
			others[i].term, others[i].flags, 8, WIRE_DESIRED_STOP, WIRE_CLIENT_RUNNING);
		assert_int_equal(sync.counters.other_terms, i + 1);
		assert_int_equal(sync.awaiting, WIRE_ALLOCS_REPLY);
		assert_int_equal(sync.wants_beat, others[i].wants_beat);
		assert_false(run->is_unwanted);
		sync.awaiting = 0;
		sync.due_ns = 0;
	}
	answer(8, WIRE_DESIRED_STOP, WIRE_CLIENT_RUNNING);
	assert_true(run->is_unwanted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_newer_copy_of_an_unknown_allocation_resumes_it),
		TEST(a_copy_that_is_not_newer_resumes_nothing),
		TEST(what_is_to_stop_is_not_resumed),
		TEST(the_list_of_another_controller_stops_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
