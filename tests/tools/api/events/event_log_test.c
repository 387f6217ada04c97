// The ring of events: order, kinds, and what happens to who is too slow.
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/nodes/vm.h"
#include "tools/api/events/event_log.h"
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static struct event_log *ring;

static int set_up(void **unused)
{
	ring = event_log_create();
	return ring ? 0 : -1;
}

static int tear_down(void **unused)
{
	event_log_destroy(ring);
	return 0;
}

static void tell(enum state_table table, const void *before, const void *after, uint64_t index)
{
	struct state_observer *observer = event_log_observer(ring);
	struct state_change change = {table, before, after, false};
	observer->changed(observer->context, &change, 1, index);
}

static void expect(uint64_t number, uint64_t index, int topic, int type)
{
	struct event event;
	assert_true(event_log_read(ring, number, &event));
	assert_int_equal(event.index, index);
	assert_int_equal(event.topic, topic);
	assert_int_equal(event.type, type);
}

static void changes_of_nodes_have_kinds(void **unused)
{
	struct drain_strategy drain = {0}, longer = {.deadline_ns = 5}, same = longer;
	struct node node = {.id = {{7}}, .described_index = 3}, again = node;
	tell(STATE_NODES, NULL, &node, 3);
	again.described_index = 4;
	tell(STATE_NODES, &node, &again, 4);
	node = again;
	again.eligibility = NODE_INELIGIBLE;
	tell(STATE_NODES, &node, &again, 5);
	again.drain = &drain;
	tell(STATE_NODES, &node, &again, 6);
	again = node;
	again.status = NODE_DOWN;
	tell(STATE_NODES, &node, &again, 7);
	again.record.deleted = true;
	tell(STATE_NODES, &node, &again, 8);
	static const int types[] = {EVENT_NODE_REGISTRATION, EVENT_NODE_REGISTRATION,
		EVENT_NODE_ELIGIBILITY, EVENT_NODE_DRAIN, EVENT_NODE_STREAM_EVENT,
		EVENT_NODE_DEREGISTRATION};
	assert_int_equal(event_log_head(ring), 6);
	for (uint32_t i = 0; i < 6; i++)
		expect(i, 3 + i, TOPIC_NODE, types[i]);
	struct event event;
	assert_true(event_log_read(ring, 5, &event));
	assert_true(uuid_equal(&event.id, &node.id));
	assert_false(event_log_read(ring, 6, &event));
	// Another deadline is news of the drain; what happens meanwhile is not.
	again = node;
	node.drain = &drain;
	again.drain = &longer;
	tell(STATE_NODES, &node, &again, 9);
	expect(6, 9, TOPIC_NODE, EVENT_NODE_DRAIN);
	node.drain = &same;
	tell(STATE_NODES, &node, &again, 10);
	expect(7, 10, TOPIC_NODE, EVENT_NODE_STREAM_EVENT);
}

// A report is an event of the allocation, of its node, once, and of the deployment that it judges; a job whose status
// changed with a plan has one, too, though its record is the same.
static void a_batch_tells_what_made_it(void **unused)
{
	char name[] = "g", id[] = "web", namespace_name[] = "default";
	struct job job = {.namespace_name = namespace_name, .id = id};
	struct allocation placed[2], reported[2];
	struct deployment_group groups[2] = {{.group = name}, {.group = name, .healthy_allocs = 1}};
	struct deployment before = {.id = {{9}}, .groups = {&groups[0], 1}}, after = before;
	after.groups.items = &groups[1];
	for (uint8_t i = 0; i < 2; i++) {
		placed[i] = (struct allocation){
			.id = {{i}}, .node_id = {{7}}, .job = &job, .alloc_modify_index = 3};
		reported[i] = placed[i];
		reported[i].client_status = ALLOC_RUNNING;
	}
	struct state_observer *observer = event_log_observer(ring);
	struct state_change report[] = {
		{STATE_ALLOCATIONS, &placed[0].record, &reported[0].record, false},
		{STATE_ALLOCATIONS, &placed[1].record, &reported[1].record, false},
		{STATE_DEPLOYMENTS, &before.record, &after.record, false}};
	observer->changed(observer->context, report, 3, 4);
	expect(0, 4, TOPIC_ALLOCATION, EVENT_ALLOCATION_UPDATED);
	expect(1, 4, TOPIC_ALLOCATION, EVENT_ALLOCATION_UPDATED);
	expect(2, 4, TOPIC_DEPLOYMENT, EVENT_ALLOCATION_UPDATED);
	expect(3, 4, TOPIC_NODE, EVENT_ALLOCATION_UPDATED);
	struct state_change plan[] = {{STATE_ALLOCATIONS, NULL, &placed[0].record, false},
		{STATE_JOBS, &job.record, &job.record, true}};
	observer->changed(observer->context, plan, 2, 5);
	expect(4, 5, TOPIC_ALLOCATION, EVENT_PLAN_RESULT);
	expect(5, 5, TOPIC_JOB, EVENT_PLAN_RESULT);
	assert_int_equal(event_log_head(ring), 6);
}

static void changes_of_deployments_have_kinds(void **unused)
{
	char name[] = "g";
	struct deployment_group groups[6];
	struct deployment stages[6];
	for (uint32_t i = 0; i < 6; i++) {
		groups[i] = (struct deployment_group){.group = name, .desired_canaries = 1};
		stages[i] = (struct deployment){.id = {{9}}, .groups = {&groups[i], 1}};
	}
	for (uint32_t i = 1; i < 6; i++)
		groups[i].placed_allocs = 1;
	groups[2].unhealthy_allocs = 1;
	for (uint32_t i = 3; i < 6; i++)
		groups[i].healthy_allocs = 1;
	groups[4].promoted = groups[5].promoted = true;
	stages[5].status = DEPLOYMENT_SUCCESSFUL;
	static const int types[] = {EVENT_PLAN_RESULT, EVENT_PLAN_RESULT,
		EVENT_DEPLOYMENT_ALLOC_HEALTH, EVENT_DEPLOYMENT_ALLOC_HEALTH,
		EVENT_DEPLOYMENT_PROMOTION, EVENT_DEPLOYMENT_STATUS_UPDATE};
	for (uint32_t i = 0; i < 6; i++) {
		tell(STATE_DEPLOYMENTS, i ? &stages[i - 1] : NULL, &stages[i], 3 + i);
		expect(i, 3 + i, TOPIC_DEPLOYMENT, types[i]);
	}
	stages[5].record.deleted = true;
	tell(STATE_DEPLOYMENTS, &stages[4], &stages[5], 9);
	assert_int_equal(event_log_head(ring), 6);
}

static void changes_of_jobs_keep_their_names(void **unused)
{
	char id[NAME_BYTES_MAX + 1], other[] = "other", standard[] = "default";
	memset(id, 'j', NAME_BYTES_MAX);
	id[NAME_BYTES_MAX] = '\0';
	struct job job = {.namespace_name = standard, .id = id, .job_modify_index = 5};
	struct job stopped = job, counted = job;
	stopped.stop = true;
	stopped.job_modify_index = 6;
	counted.id = other;
	tell(STATE_JOBS, NULL, &job, 5);
	tell(STATE_JOBS, &job, &job, 6); // its summary
	tell(STATE_JOBS, &job, &stopped, 7);
	tell(STATE_JOBS, &counted,
		&(struct job){.namespace_name = standard, .id = other, .job_modify_index = 5}, 8);
	assert_int_equal(event_log_head(ring), 3);
	expect(0, 5, TOPIC_JOB, EVENT_JOB_REGISTERED);
	expect(1, 7, TOPIC_JOB, EVENT_JOB_DEREGISTERED);
	expect(2, 8, TOPIC_JOB, EVENT_EVALUATION_UPDATED);
	struct event event;
	assert_true(event_log_read(ring, 1, &event));
	assert_string_equal(event.namespace_name, "default");
	assert_string_equal(event.name, id);
	// Their names are kept for the newest jobs only.
	for (uint32_t i = 0; i < EVENT_LOG_JOBS; i++)
		tell(STATE_JOBS, NULL, &job, 9 + i);
	assert_true(event_log_read(ring, 1, &event));
	assert_true(event_has_lost_its_name(&event));
	assert_string_equal(event.namespace_name, "");
	assert_true(event_log_read(ring, 3, &event));
	assert_false(event_has_lost_its_name(&event));
}

static void changes_of_machines_have_kinds(void **unused)
{
	char name[NAME_BYTES_MAX + 1], uid[] = "1", other_uid[] = "2";
	memset(name, 'v', NAME_BYTES_MAX);
	name[NAME_BYTES_MAX] = '\0';
	struct vm_condition scheduled[] = {{VM_CONDITION_SCHEDULED, 1}};
	struct vm stages[8] = {{.name = name, .uid = uid}};
	for (uint32_t i = 1; i < 8; i++)
		stages[i] = stages[0];
	stages[1].instance = (struct uuid){{1}};
	stages[1].conditions = (struct array){scheduled, 1};
	stages[2] = stages[1];
	stages[2].status = VM_RUNNING;
	stages[3].restart_count = 1;
	stages[4] = stages[1];
	stages[4].restart_count = 1;
	stages[5] = stages[4];
	stages[5].instance = (struct uuid){0}; // its worker is free of it
	stages[5].conditions = (struct array){0};
	stages[6].uid = other_uid;
	stages[7] = stages[6];
	stages[7].record.deleted = true;
	static const int types[] = {EVENT_VM_CREATED, EVENT_VM_SCHEDULED, EVENT_VM_UPDATED,
		EVENT_VM_RESTARTED, EVENT_VM_SCHEDULED, EVENT_VM_RELEASED, EVENT_VM_CREATED,
		EVENT_VM_DELETED};
	for (uint32_t i = 0; i < 8; i++) {
		tell(STATE_VMS, i ? &stages[i - 1] : NULL, &stages[i], 3 + i);
		expect(i, 3 + i, TOPIC_VM, types[i]);
	}
	struct event event;
	assert_true(event_log_read(ring, 7, &event));
	assert_string_equal(event.name, name);
	assert_string_equal(event.namespace_name, "");
	for (uint32_t i = 1; i < EVENT_LOG_MACHINES; i++)
		tell(STATE_VMS, &stages[1], &stages[2], 9 + i);
	assert_true(event_log_read(ring, 7, &event));
	assert_false(event_has_lost_its_name(&event));
	tell(STATE_VMS, &stages[1], &stages[2], 9 + EVENT_LOG_MACHINES);
	assert_true(event_log_read(ring, 7, &event));
	assert_true(event_has_lost_its_name(&event));
	assert_int_equal(event.type, EVENT_VM_DELETED);
}

// What is published at once happened one after the other.
static void several_changes_of_a_machine_are_several_events(void **unused)
{
	struct vm_condition yes[] = {{VM_CONDITION_SCHEDULED, 1}};
	char name[] = "vm", uid[] = "1", lost[] = VM_TEXT_WORKER_LOST, why[] = "no image";
	struct vm stages[6] = {{.name = name, .uid = uid}};
	stages[0].conditions = (struct array){yes, 1};
	stages[0].instance = (struct uuid){{1}};
	for (uint32_t i = 1; i < 6; i++)
		stages[i] = stages[0];
	stages[1].started_at_ns = 5;
	stages[1].status = VM_RUNNING;
	stages[2] = stages[1];
	stages[2].generation = 1;
	stages[2].power_state = VM_POWER_STOPPED;
	stages[3] = stages[1];
	stages[3].generation = 1;
	stages[4].status = VM_FAILED;
	stages[4].status_message = why;
	stages[5] = stages[4];
	stages[5].status_message = lost;
	const struct {
		const struct vm *before, *after;
		int types[3];
	} rows[] = {
		{NULL, &stages[0], {EVENT_VM_CREATED, EVENT_VM_SCHEDULED, -1}},
		{NULL, &stages[1], {EVENT_VM_CREATED, EVENT_VM_SCHEDULED, EVENT_VM_STARTED}},
		{&stages[0], &stages[1], {EVENT_VM_STARTED, -1}},
		{&stages[1], &stages[2], {EVENT_VM_POWER, -1}},
		{&stages[1], &stages[3], {EVENT_VM_SPEC, -1}},
		{&stages[0], &stages[4], {EVENT_VM_FAILED, -1}},
		{&stages[0], &stages[5], {EVENT_VM_WORKER_LOST, -1}},
	};
	uint32_t number = 0;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		tell(STATE_VMS, rows[i].before, rows[i].after, 3 + i);
		for (uint32_t t = 0; t < 3 && rows[i].types[t] >= 0; t++)
			expect(number++, 3 + i, TOPIC_VM, rows[i].types[t]);
		assert_int_equal(event_log_head(ring), number);
	}
}

static void changes_of_workers_have_kinds(void **unused)
{
	char name[] = "w";
	char kind[] = "cores";
	struct named_count cores = {kind, 4};
	struct vm_worker stages[7] = {{.name = name, .last_seen_ns = 1}};
	for (uint32_t i = 1; i < 7; i++) {
		stages[i] = stages[i - 1];
		stages[i].last_seen_ns++;
		stages[i].record.modify_index++;
		if (i == 1)
			stages[i].beats = true;
		if (i == 2)
			stages[i].scheduling_paused = true;
		if (i == 3)
			stages[i].resources = (struct array){&cores, 1};
		if (i == 5)
			stages[i].record.deleted = true;
		if (i == 6)
			stages[i].record.deleted = false;
	}
	static const int types[] = {EVENT_VM_WORKER_REGISTRATION, EVENT_VM_WORKER_UPDATED,
		EVENT_VM_WORKER_PAUSE, EVENT_VM_WORKER_REGISTRATION, -1,
		EVENT_VM_WORKER_DEREGISTRATION, EVENT_VM_WORKER_REGISTRATION};
	for (uint32_t i = 0, number = 0; i < 7; i++) {
		tell(STATE_VM_WORKERS, i ? &stages[i - 1] : NULL, &stages[i], 3 + i);
		if (types[i] >= 0) // that it was only seen is no event
			expect(number++, 3 + i, TOPIC_VM_WORKER, types[i]);
		assert_int_equal(event_log_head(ring), number);
	}
}

static void what_goes_quietly_is_no_event(void **unused)
{
	struct evaluation e = {.triggered_by = TRIGGER_JOB_REGISTER}, gone = e;
	struct allocation a = {.alloc_modify_index = 4}, updated = a, stopping = a, ended = a;
	gone.record.deleted = true;
	tell(STATE_EVALUATIONS, NULL, &e, 2);
	tell(STATE_EVALUATIONS, &e, &e, 3);
	tell(STATE_EVALUATIONS, &e, &gone, 4);
	stopping.alloc_modify_index = 6;
	ended.alloc_modify_index = 7;
	ended.desired = ALLOC_STOP;
	tell(STATE_ALLOCATIONS, NULL, &a, 5);
	tell(STATE_ALLOCATIONS, &a, &updated, 6);
	tell(STATE_ALLOCATIONS, &a, &stopping, 7);
	tell(STATE_ALLOCATIONS, &a, &ended, 8);
	ended.record.deleted = true;
	tell(STATE_ALLOCATIONS, &a, &ended, 9);
	assert_int_equal(event_log_head(ring), 6);
	expect(0, 2, TOPIC_EVALUATION, EVENT_JOB_REGISTERED);
	expect(1, 3, TOPIC_EVALUATION, EVENT_EVALUATION_UPDATED);
	expect(2, 5, TOPIC_ALLOCATION, EVENT_PLAN_RESULT);
	expect(3, 6, TOPIC_ALLOCATION, EVENT_ALLOCATION_UPDATED);
	expect(4, 7, TOPIC_ALLOCATION, EVENT_ALLOCATION_UPDATE_DESIRED_STATUS);
	expect(5, 8, TOPIC_ALLOCATION, EVENT_PLAN_RESULT);
}

static void the_oldest_give_way(void **unused)
{
	struct node node = {.id = {{1}}};
	uint64_t count = EVENT_LOG_EVENTS + 1000;
	for (uint64_t i = 0; i < count; i++)
		tell(STATE_NODES, NULL, &node, 10 + i / 2);
	struct event event;
	assert_int_equal(event_log_head(ring), count);
	assert_false(event_log_read(ring, 0, &event));
	assert_false(event_log_read(ring, 999, &event));
	assert_true(event_log_read(ring, 1000, &event));
	assert_true(event_log_read(ring, count - 1, &event));
	assert_int_equal(event_log_find(ring, 1), 1001);
	assert_int_equal(event_log_find(ring, 10 + 3000), 6000);
	assert_int_equal(event_log_find(ring, 10 + count), count);
}

static void only_listeners_are_woken(void **unused)
{
	struct node node = {.id = {{1}}};
	struct pollfd p = {.fd = event_log_fd(ring), .events = POLLIN};
	tell(STATE_NODES, NULL, &node, 1);
	assert_int_equal(poll(&p, 1, 0), 0);
	event_log_listen(ring, true);
	tell(STATE_NODES, NULL, &node, 2);
	assert_int_equal(poll(&p, 1, 0), 1);
	event_log_listen(ring, false);
}

#define RACING_EVENTS 2000000u

static void *write_on(void *unused)
{
	struct node node = {0};
	for (uint32_t i = 1; i <= RACING_EVENTS; i++) {
		memset(node.id.bytes, (int)(i & 0x7f), sizeof node.id.bytes);
		tell(STATE_NODES, NULL, &node, i);
	}
	return NULL;
}

// An event is read whole or not at all, whatever the writer does meanwhile.
static void reading_races_with_writing(void **unused)
{
	pthread_t writer;
	assert_int_equal(pthread_create(&writer, NULL, write_on, NULL), 0);
	uint64_t next = 0, read = 0;
	while (next < RACING_EVENTS) {
		struct event event;
		if (next >= event_log_head(ring))
			continue;
		if (event_log_read(ring, next, &event)) {
			assert_int_equal(event.index, next + 1);
			for (size_t i = 0; i < sizeof event.id.bytes; i++)
				assert_int_equal(event.id.bytes[i], (next + 1) & 0x7f);
			read++;
		}
		next += 1 + next % 3;
	}
	pthread_join(writer, NULL);
	assert_true(read > 0);
}

static void without_a_descriptor_there_is_none(void **unused)
{
	struct rlimit before, none;
	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct event_log *made = event_log_create();
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_descriptor_there_is_none),
		cmocka_unit_test_setup_teardown(changes_of_nodes_have_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_batch_tells_what_made_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			changes_of_deployments_have_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			changes_of_jobs_keep_their_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(changes_of_machines_have_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			several_changes_of_a_machine_are_several_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(changes_of_workers_have_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_goes_quietly_is_no_event, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_give_way, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_listeners_are_woken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reading_races_with_writing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
