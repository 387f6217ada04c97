// What every command is answered, and what becomes of answers when the log fails.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/allocation_end.h"
#include "tests/support/controller.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {1000, 1000, 100};

static int set_up(void **fixture)
{
	struct controller *c = memory_take(sizeof *c);

	controller_init(c, (struct state_limits){0});
	controller_open(c);
	*fixture = c;
	return 0;
}

static int tear_down(void **fixture)
{
	struct controller *c = *fixture;

	controller_verify(c);
	controller_free(c);
	free(c);
	return 0;
}

static const struct allocation *find(struct controller *c, const struct uuid *id)
{
	state_read_begin();
	const struct allocation *a = state_allocation(c->state, id);
	state_read_end();
	return a; // nobody else changes it
}

static const struct node *node_at(struct controller *c, uint32_t slot)
{
	state_read_begin();
	const struct node *n = state_node_at(c->state, slot);
	state_read_end();
	return n;
}

static const struct job *find_job(struct controller *c, const char *id)
{
	state_read_begin();
	const struct job *job = state_job(c->state, TEXT("default"), text_of(id));
	state_read_end();
	return job;
}

static void a_node_becomes_ready(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration node;

	assert_int_equal(controller_register(c, 5, &node), OUTCOME_DONE);
	assert_int_equal(node.slot, 0);
	assert_int_equal(node.generation, 1);
	assert_int_equal(node.owner, 0);
	const struct node *n = node_at(c, 0);
	assert_int_equal(n->status, NODE_READY);
	assert_int_equal(n->event_count, 1); // leaving down is an event, becoming ready is none
	assert_string_equal(n->node_class->pool, "default");
	assert_string_equal(n->node_class->datacenter, "dc1");
	assert_string_equal(n->node_class->class_name, "odd");
	assert_string_equal(node_attribute(n, "cpu.arch"), "amd64");
	assert_string_equal(node_attribute(n, "unique.hostname"), "a-node");
	assert_null(node_attribute(n, "cpu"));
	assert_int_equal(n->register_index, state_index(c->state) - 1);
}

static void workers_have_blocks_of_their_own(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);

	for (uint32_t i = 0; i < 10; i++) {
		build_node(node, i, 1);
		node->worker = i % 2;
		struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
		assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
		assert_int_equal(node->slot, (i % 2) * NODE_BLOCK_SLOTS + i / 2);
		assert_int_equal(node->owner, i % 2);
	}
	free(node);
}

static enum command_outcome run_registration(struct controller *c, struct node_registration *node)
{
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	return controller_run(c, &command);
}

static void registrations_have_an_order(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);

	build_node(node, 1, 100);
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	uint64_t index = state_index(c->state);
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(state_index(c->state), index); // said again, nothing new
	assert_int_equal(node->generation, 1);
	build_node(node, 1, 99);
	assert_int_equal(run_registration(c, node), OUTCOME_STALE_REGISTRATION);
	assert_int_equal(node->newest_sequence, 100);
	build_node(node, 1, 101);
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(node->generation, 2);
	assert_int_equal(node->slot, 0);
	free(node);
}

static void a_repeat_does_not_raise_the_dead(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);

	build_node(node, 1, 100);
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	uint64_t index = state_index(c->state);
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(state_index(c->state), index);
	assert_int_equal(node_at(c, 0)->status, NODE_DOWN);
	free(node);
}

static void bad_descriptions_are_refused(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);
	char *longer = memory_take(4096);

	memset(longer, 'x', 4096);
	for (int i = 0; i < 9; i++) {
		build_node(node, 1, 100);
		switch (i) {
		case 0: node->pool = TEXT("all"); break;
		case 1: node->name = TEXT("a\nb"); break;
		case 2: node->pairs[1] = node->pairs[0]; break;
		case 3: node->pairs[0].name = (struct text){longer, 129}; break;
		case 4: node->pairs[0].value = (struct text){longer, 1025}; break;
		case 5: node->pair_count = NODE_ATTRIBUTES_MAX + 1; break;
		case 6: node->pairs[0].kind = 3; break;
		case 7: node->part = 1; break;
		case 8: node->datacenter = (struct text){longer, 256}; break;
		}
		assert_int_equal(run_registration(c, node), OUTCOME_BAD_DESCRIPTION);
	}
	assert_int_equal(state_node_slots(c->state), 0);
	free(longer);
	free(node);
}

static void silence_and_return(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	assert_int_equal(controller_place(c, "scaler", "web", 1, 2, &place), OUTCOME_DONE);
	assert_int_equal(place.placed, 2);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 2), OUTCOME_STALE_GENERATION);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 9, 1), OUTCOME_UNKNOWN_NODE);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	const struct allocation *a = find(c, &place.items[1].allocation);
	assert_int_equal(a->client_status, ALLOC_LOST);
	assert_string_equal(end_cause_text(a->end_cause), "alloc is lost since its node is down");
	assert_int_equal(state_node_cell(c->state, 0)->used.cpu_mhz, 0);
	assert_int_equal(find_job(c, "web")->status, JOB_PENDING);
	assert_int_equal(controller_place(c, "scaler", "web", 2, 1, &place), OUTCOME_NO_NODE);

	uint64_t index = state_index(c->state);
	assert_int_equal(controller_node(c, COMMAND_NODE_GOODBYE, 0, 1), OUTCOME_DONE);
	assert_int_equal(state_index(c->state), index); // it is down already
	assert_int_equal(controller_node(c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	assert_int_equal(node_at(c, 0)->status, NODE_READY);
	assert_int_equal(a->client_status, ALLOC_LOST);
}

static void a_smaller_node_keeps_what_it_runs(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);
	struct command_place place;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	assert_int_equal(controller_place(c, "scaler", "web", 1, 4, &place), OUTCOME_DONE);
	build_node(node, 1, (uint64_t)controller_now_ms(c) + 1);
	node->total.cpu_mhz = 2500;
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(find(c, &place.items[3].allocation)->client_status, ALLOC_PENDING);
	assert_int_equal(controller_place(c, "scaler", "web", 2, 1, &place), OUTCOME_NO_NODE);
	controller_verify(c);
	free(node);
}

// The instances move with their group; those that are gone take their allocations along.
static void devices_follow_their_group(void **fixture)
{
	struct controller *c = *fixture;
	struct node_registration *node = memory_take(sizeof *node);
	struct command_place place;
	uint32_t gpus = 1;

	build_node(node, 1, 100);
	node->device_group_count = 1;
	node->device_groups[0] =
		(struct node_device_group){TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), 2};
	assert_int_equal(core_join(&c->core, node), OUTCOME_DONE);
	controller_job(c, build_device_job("train", &small, &gpus, 1));
	assert_int_equal(controller_place(c, "scaler", "train", 1, 3, &place), OUTCOME_DONE);
	assert_int_equal(place.placed, 2);
	assert_int_equal(allocation_devices(find(c, &place.items[1].allocation))->groups[0], 2);

	node->sequence = 101;
	node->device_group_count = 2;
	node->device_groups[0].instances = 1;
	node->device_groups[1] =
		(struct node_device_group){TEXT("amd"), TEXT("fpga"), TEXT("x"), 8};
	assert_int_equal(run_registration(c, node), OUTCOME_DONE);
	assert_int_equal(allocation_devices(find(c, &place.items[0].allocation))->groups[1], 1);
	const struct allocation *lost = find(c, &place.items[1].allocation);
	assert_int_equal(lost->client_status, ALLOC_LOST);
	assert_string_equal(
		end_cause_text(lost->end_cause), "alloc is lost since its devices are gone");
	free(node);
}

static void a_request_is_answered_twice_alike(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place, again;
	struct command command = {.type = COMMAND_PLACE, .place = &again};

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	assert_int_equal(controller_place(c, "scaler", "web", 9, 2, &place), OUTCOME_DONE);
	uint64_t index = state_index(c->state);
	again = (struct command_place){
		.client = TEXT("scaler"),
		.issued_ms = place.issued_ms,
		.request = 9,
		.count = 2,
		.job = TEXT("web"),
		.group = TEXT("g0"),
	};
	manual_time_advance_ms(
		&c->time, PLACE_REMEMBER_MS + 1); // even late, while it is remembered
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_memory_equal(again.items, place.items, 2 * sizeof again.items[0]);
	assert_int_equal(state_index(c->state), index);
	assert_int_equal(command.index, index);

	again.request = 10;
	assert_int_equal(controller_run(c, &command), OUTCOME_TOO_OLD);
	controller_collect(c);
	again.request = 9;
	assert_int_equal(controller_run(c, &command), OUTCOME_TOO_OLD);
	// A clock that goes back does not make a forgotten request a new one.
	c->time.wall_ns -= PLACE_REMEMBER_MS * 1000000ull;
	assert_int_equal(controller_run(c, &command), OUTCOME_TOO_OLD);
	again.issued_ms = controller_now_ms(c) + PLACE_CLOCK_AHEAD_MS + 1;
	assert_int_equal(controller_run(c, &command), OUTCOME_TOO_OLD);
}

static void placement_says_why_not(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;
	struct job *service = build_job("service", &small, 1);

	service->type = JOB_SERVICE;
	assert_int_equal(controller_job(c, service), OUTCOME_DONE);
	controller_job(c, build_job("web", &small, 1));
	assert_int_equal(controller_place(c, "s", "none", 1, 1, &place), OUTCOME_UNKNOWN_JOB);
	assert_int_equal(controller_place(c, "s", "service", 2, 1, &place), OUTCOME_NOT_DIRECT);
	assert_int_equal(controller_place(c, "s", "web", 3, 0, &place), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(controller_place(c, "s", "web", 3, 33, &place), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(controller_place(c, "s", "web", 3, 1, &place), OUTCOME_NO_NODE);
	place.group = TEXT("g1");
	place.count = 1;
	struct command command = {.type = COMMAND_PLACE, .place = &place};
	assert_int_equal(controller_run(c, &command), OUTCOME_UNKNOWN_GROUP);
	controller_register(c, 1, NULL);
	assert_int_equal(controller_place(c, "s", "web", 3, 9, &place), OUTCOME_DONE);
	assert_int_equal(place.placed, 4);
	assert_int_equal(place.refusal.nodes_seen, 1);
	controller_stop_job(c, "web", false);
	assert_int_equal(controller_place(c, "s", "web", 4, 1, &place), OUTCOME_JOB_STOPPED);
}

static void numbers_are_not_given_twice(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	for (uint64_t i = 0; i < 6; i++) {
		assert_int_equal(controller_place(c, "s", "web", i, 1, &place), OUTCOME_DONE);
		assert_int_equal(find(c, &place.items[0].allocation)->index, i);
		controller_release(c, &place.items[0].allocation, 1, NULL);
		if (i == 2) {
			struct resources other = {500, 500, 100};
			controller_job(c, build_job("web", &other, 1));
		}
	}
}

static void release_of_each_kind(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;
	struct command_release release;
	struct uuid ids[4] = {{{1}}};

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "scaler", "web", 1, 2, &place);
	ids[1] = ids[2] = place.items[0].allocation;
	ids[3] = place.items[1].allocation;
	release = (struct command_release){.client = TEXT("other"), .count = 4};
	memcpy(release.ids, ids, sizeof ids);
	struct command command = {.type = COMMAND_RELEASE, .release = &release};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	for (int i = 0; i < 4; i++)
		assert_int_equal(release.results[i], RELEASE_UNKNOWN);
	release.client = TEXT("scaler");
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(release.results[0], RELEASE_UNKNOWN);
	assert_int_equal(release.results[1], RELEASE_DONE);
	assert_int_equal(release.results[2], RELEASE_ALREADY);
	assert_int_equal(release.results[3], RELEASE_DONE);
	const struct allocation *a = find(c, &ids[3]);
	assert_int_equal(a->desired, ALLOC_STOP);
	assert_int_equal(a->client_status, ALLOC_COMPLETE);
	assert_string_equal(allocation_client_description(a), "released by client");
	assert_int_equal(state_node_cell(c->state, 0)->used.memory_mb, 0);
	struct node_line *line = node_table_line(state_node_table(c->state), 0);
	assert_int_equal(line->alloc_index, a->record.modify_index);
}

static void changes_come_in_pages(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;
	struct command_status status = {.client = TEXT("scaler"), .changes = true, .count = 3};
	struct command command = {.type = COMMAND_STATUS, .status = &status};
	uint32_t seen = 0;

	controller_register(c, 1, NULL);
	controller_register(c, 2, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "scaler", "web", 1, 8, &place);
	uint64_t placed = state_index(c->state);
	controller_node(c, COMMAND_NODE_EXPIRED, 0, 1); // four change at once
	do {
		assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
		for (uint32_t i = 0; i < status.found; i++)
			assert_true(status.items[i].modify_index > status.since);
		seen += status.found;
		status.since = status.index;
	} while (status.more);
	assert_int_equal(seen, 8);
	assert_int_equal(status.index, state_index(c->state));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(status.found, 0);
	status.since = placed;
	status.count = PLACE_COUNT_MAX;
	controller_run(c, &command);
	assert_int_equal(status.found, 4);
	assert_int_equal(status.items[0].client_status, ALLOC_LOST);
	// Who has seen more than there ever was has seen what was lost: all is news.
	status.since = state_index(c->state) + 1;
	controller_run(c, &command);
	assert_int_equal(status.found, 8);
	status.since = UINT64_MAX;
	controller_run(c, &command);
	assert_int_equal(status.found, 8);
	status.since = state_index(c->state);
	controller_run(c, &command);
	assert_int_equal(status.found, 0);
	status.since = 0;
	status.client = TEXT("other");
	controller_run(c, &command);
	assert_int_equal(status.found, 0);
}

static void worse(void *context, const struct job *job, uint32_t group,
	struct placer_choice *choice, struct place_refusal *refusal)
{
	*choice = (struct placer_choice){.slot = *(uint32_t *)context};
}

static void nothing(void *context, uint32_t slot)
{
}

static void none(void *context, const struct job *job)
{
}

static void a_choice_that_does_not_fit_is_refused(void **fixture)
{
	static uint32_t slot;
	struct controller c;
	struct command_place place;
	struct resources big = {5000, 1, 1};

	controller_init(&c, (struct state_limits){0});
	c.placer = (struct placer){&slot, worse, nothing, none};
	controller_open(&c);
	controller_register(&c, 1, NULL);
	controller_job(&c, build_job("big", &big, 1));
	controller_job(&c, build_job("web", &small, 1));
	assert_int_equal(controller_place(&c, "s", "big", 1, 1, &place), OUTCOME_NO_NODE);
	slot = 77; // nobody there
	assert_int_equal(controller_place(&c, "s", "web", 2, 1, &place), OUTCOME_NO_NODE);
	slot = 0;
	assert_int_equal(controller_place(&c, "s", "web", 3, 5, &place), OUTCOME_DONE);
	assert_int_equal(place.placed, 4);
	assert_int_equal(applier_counters(c.applier)->bad_choices, 3);
	assert_int_equal(applier_counters(c.applier)->placements, 4);
	controller_verify(&c);
	controller_free(&c);
}

static void versions_of_a_job(void **fixture)
{
	struct controller *c = *fixture;
	struct command command = {.type = COMMAND_JOB_REGISTER};

	for (uint32_t i = 0; i < 9; i++) {
		struct resources ask = {100 + i, 100, 100};
		assert_int_equal(controller_job(c, build_job("web", &ask, 1)), OUTCOME_DONE);
		uint64_t index = state_index(c->state);
		assert_int_equal(controller_job(c, build_job("web", &ask, 1)), OUTCOME_DONE);
		assert_int_equal(state_index(c->state), index); // the same: no version
		assert_int_equal(find_job(c, "web")->version, i);
	}
	state_read_begin();
	assert_null(state_job_version(c->state, TEXT("default"), TEXT("web"), 2));
	assert_non_null(state_job_version(c->state, TEXT("default"), TEXT("web"), 3));
	state_read_end();

	command.job_register = (struct command_job_register){
		.job = build_job("web", &small, 1), .enforce_index = true};
	assert_int_equal(controller_run(c, &command), OUTCOME_CONFLICT);
	assert_non_null(command.job_register.job);
	command.job_register.job_modify_index = command.job_register.current_modify_index;
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_null(command.job_register.job);
	assert_true(command.job_register.existed);
	assert_int_equal(command.index, find_job(c, "web")->job_modify_index);
}

static void stopping_and_collecting(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "s", "web", 1, 3, &place);
	assert_int_equal(find_job(c, "web")->status, JOB_RUNNING);
	assert_int_equal(controller_stop_job(c, "none", false), OUTCOME_UNKNOWN_JOB);
	assert_int_equal(controller_stop_job(c, "web", false), OUTCOME_DONE);
	assert_int_equal(find_job(c, "web")->status, JOB_DEAD);
	assert_true(find_job(c, "web")->stop);
	assert_int_equal(find_job(c, "web")->version, 1);
	const struct allocation *a = find(c, &place.items[0].allocation);
	assert_int_equal(a->desired, ALLOC_STOP);
	assert_string_equal(end_cause_text(a->end_cause), "alloc not needed due to job update");

	const struct node_line *line = node_table_line(state_node_table(c->state), 0);
	uint64_t told = line->alloc_index;
	controller_collect(c);
	assert_non_null(find(c, &place.items[0].allocation));
	manual_time_advance_ms(&c->time, CONTROLLER_COLLECT_AFTER_MS + 1);
	controller_collect(c);
	assert_null(find(c, &place.items[0].allocation));
	assert_null(find_job(c, "web"));
	assert_int_equal(line->alloc_index, told); // the node has nothing to do about it
	uint64_t index = state_index(c->state);
	controller_collect(c);
	assert_int_equal(state_index(c->state), index); // nothing to do leaves no trace
}

static void a_purged_job_may_come_back(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "s", "web", 1, 1, &place);
	assert_int_equal(controller_stop_job(c, "web", true), OUTCOME_DONE);
	assert_null(find_job(c, "web"));
	assert_int_equal(find(c, &place.items[0].allocation)->desired, ALLOC_STOP);
	controller_verify(c);
	controller_job(c, build_job("web", &small, 1));
	assert_int_equal(find_job(c, "web")->version, 0);
	assert_int_equal(controller_place(c, "s", "web", 2, 1, &place), OUTCOME_DONE);
	assert_int_equal(find(c, &place.items[0].allocation)->index, 0);
}

static void tables_are_bounded(void **fixture)
{
	struct controller c;
	struct command_place place;
	struct resources tiny = {1, 1, 1};

	controller_init(&c, (struct state_limits){.nodes = 2,
				    .jobs = 1,
				    .allocations = 5,
				    .place_requests = 3,
				    .clients = 1});
	controller_open(&c);
	assert_int_equal(controller_register(&c, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&c, 2, NULL), OUTCOME_DONE);
	assert_int_equal(controller_register(&c, 3, NULL), OUTCOME_TABLE_FULL);
	assert_int_equal(
		controller_register(&c, 2, NULL), OUTCOME_DONE); // known: no more room needed
	assert_int_equal(controller_job(&c, build_job("web", &tiny, 1)), OUTCOME_DONE);
	assert_int_equal(controller_job(&c, build_job("db", &tiny, 1)), OUTCOME_TABLE_FULL);
	assert_int_equal(controller_place(&c, "a", "web", 1, 2, &place), OUTCOME_DONE);
	assert_int_equal(controller_place(&c, "b", "web", 1, 1, &place), OUTCOME_TABLE_FULL);
	assert_int_equal(controller_place(&c, "a", "web", 2, 9, &place), OUTCOME_DONE);
	assert_int_equal(place.placed, 3);
	assert_int_equal(controller_place(&c, "a", "web", 3, 1, &place), OUTCOME_TABLE_FULL);
	controller_verify(&c);
	controller_free(&c);
}

static void little_room_refuses_growth_only(void **fixture)
{
	struct controller *c = *fixture;
	struct command_place place, refused;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "s", "web", 1, 2, &place);
	c->log.room_bytes = STORE_RESERVE_BYTES - 1;
	assert_int_equal(controller_place(c, "s", "web", 2, 1, &refused), OUTCOME_STORE_FULL);
	assert_int_equal(controller_register(c, 2, NULL), OUTCOME_STORE_FULL);
	assert_int_equal(controller_job(c, build_job("db", &small, 1)), OUTCOME_STORE_FULL);
	assert_int_equal(controller_release(c, &place.items[0].allocation, 1, NULL), OUTCOME_DONE);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 0, 1), OUTCOME_DONE);
	assert_int_equal(controller_node(c, COMMAND_NODE_RETURNED, 0, 1), OUTCOME_DONE);
	assert_int_equal(controller_stop_job(c, "web", false), OUTCOME_DONE);
	c->log.room_bytes = INT64_MAX;
	assert_int_equal(controller_register(c, 2, NULL), OUTCOME_DONE);
}

static void a_slow_disk_is_counted(void **fixture)
{
	struct controller *c = *fixture;

	c->log.time = &c->time;
	c->log.append_ms = 999;
	assert_int_equal(controller_register(c, 0, NULL), OUTCOME_DONE);
	assert_int_equal(applier_counters(c->applier)->log_slow, 0);
	c->log.append_ms = 20000;
	uint32_t before = c->log.count;
	assert_int_equal(controller_register(c, 1, NULL), OUTCOME_DONE);
	assert_int_equal(applier_counters(c->applier)->log_slow, c->log.count - before);
	c->log.time = NULL;
}

// Nothing is lost and nothing is said while there is no room.
static void a_full_disk_is_waited_for(void **fixture)
{
	struct controller *c = *fixture;
	struct command command = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	struct command later = {.type = COMMAND_NODE_RETURNED, .node = {0, 1}};
	struct node_registration *node = memory_take(sizeof *node);
	struct command growth = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	uint32_t done = 0, refused = 0;

	controller_register(c, 1, NULL);
	uint64_t index = state_index(c->state);
	c->log.error = -ENOSPC;
	controller_push(c, &command, &done);
	applier_step(c->applier);
	assert_int_equal(done, 0);
	assert_int_equal(state_index(c->state), index);
	assert_int_equal(node_at(c, 0)->status, NODE_READY);

	build_node(node, 2, 100);
	controller_push(c, &later, &done);
	controller_push(c, &growth, &refused);
	applier_step(c->applier);
	assert_int_equal(done, 0);
	assert_int_equal(refused, 1); // at once: it changes nothing
	assert_int_equal(growth.outcome, OUTCOME_STORE_FULL);
	assert_true(applier_counters(c->applier)->log_waits >= 2);

	c->log.error = 0;
	applier_step(c->applier);
	assert_int_equal(done, 2);
	assert_int_equal(command.outcome, OUTCOME_DONE);
	assert_int_equal(node_at(c, 0)->status, NODE_READY);
	assert_int_equal(state_index(c->state), index + 2);
	free(node);
}

static void forget(struct controller *c, struct command *commands, uint32_t *done)
{
	manual_time_advance_ms(&c->time, 2 * CONTROLLER_COLLECT_AFTER_MS);
	commands[0] = (struct command){.type = COMMAND_COLLECT};
	commands[1] = (struct command){.type = COMMAND_JOB_DEREGISTER,
		.job_deregister = {.id = TEXT("web"), .purge = true}};
	controller_push(c, &commands[0], done);
	controller_push(c, &commands[1], done);
	applier_step(c->applier);
}

// What is deleted in a batch that is not durable yet is still there, and not taken apart either
// when the batch before it comes out.
static void deletions_wait_for_their_batch(void **fixture)
{
	struct controller *c = *fixture;
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {1, 1}}, commands[2];
	struct command_place place;
	uint32_t done = 0;

	controller_register(c, 1, NULL);
	controller_register(c, 2, NULL);
	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "s", "web", 1, 3, &place);
	struct uuid ids[] = {
		place.items[0].allocation, place.items[1].allocation, place.items[2].allocation};
	controller_release(c, ids, 3, NULL);
	c->log.error = -ENOSPC;
	controller_push(c, &change, &done);
	applier_step(c->applier);
	forget(c, commands, &done);
	assert_int_equal(done, 0);
	assert_non_null(find(c, &ids[0]));
	assert_non_null(find_job(c, "web"));
	c->log.error = 0;
	applier_step(c->applier);
	assert_int_equal(done, 3);
	assert_null(find(c, &ids[0]));
	assert_null(find_job(c, "web"));
	controller_verify(c);
}

static void a_large_collection_comes_in_pieces(void **fixture)
{
	struct controller *c = *fixture;
	struct resources nothing_much = {0, 0, 0};
	struct command_place place;
	struct state_counts counts;
	uint32_t placed = 0;

	controller_register(c, 1, NULL);
	controller_job(c, build_job("web", &nothing_much, 1));
	for (uint64_t i = 0; placed < 20000; i++) {
		assert_int_equal(
			controller_place(c, "s", "web", i, PLACE_COUNT_MAX, &place), OUTCOME_DONE);
		placed += place.placed;
	}
	controller_stop_job(c, "web", false);
	manual_time_advance_ms(&c->time, CONTROLLER_COLLECT_AFTER_MS + 1);
	assert_int_equal(controller_collect(c), OUTCOME_DONE);
	state_counts(c->state, &counts);
	assert_true(counts.allocations > 0 && counts.allocations < placed);
	for (int i = 0; i < 3; i++)
		applier_step(c->applier);
	state_counts(c->state, &counts);
	assert_int_equal(counts.allocations + counts.jobs, 0);
	controller_verify(c);
}

static void a_broken_log_ends_it(void **fixture)
{
	struct controller c;
	struct command command = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	uint32_t done = 0;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	controller_register(&c, 1, NULL);
	c.log.error = -EIO;
	controller_push(&c, &command, &done);
	applier_step(c.applier);
	assert_int_equal(c.log_error, -EIO);
	assert_int_equal(done, 0);
	c.log.error = 0;
	applier_step(c.applier); // never again
	assert_int_equal(done, 0);
	assert_int_equal(c.log.count, 3);
	applier_stop(c.applier, 0);
	assert_int_equal(done, 1);
	assert_int_equal(command.outcome, OUTCOME_STOPPING);
	controller_free(&c);
}

// What reads waits for what was decided before it.
static void reads_keep_their_place(void **fixture)
{
	struct controller *c = *fixture;
	struct command_status status = {.client = TEXT("s"), .changes = true, .count = 9};
	struct command change = {.type = COMMAND_NODE_EXPIRED, .node = {0, 1}};
	struct command read = {.type = COMMAND_STATUS, .status = &status};
	uint32_t changed = 0, answered = 0;

	controller_register(c, 1, NULL);
	c->log.error = -ENOSPC;
	controller_push(c, &change, &changed);
	applier_step(c->applier);
	controller_push(c, &read, &answered);
	applier_step(c->applier);
	assert_int_equal(answered, 0);
	c->log.error = 0;
	applier_step(c->applier);
	assert_int_equal(changed, 1);
	assert_int_equal(answered, 1);
}

// Nodes know the terms of the store before it, and take no answer of a lower one.
static void a_new_store_goes_on_above_the_terms_of_the_old(void **fixture)
{
	struct controller *c = *fixture;
	struct controller next;

	controller_init(&next, (struct state_limits){0});
	next.time.wall_ns += NS_PER_S;
	controller_open(&next);
	assert_true(state_node_table(next.state)->term > state_node_table(c->state)->term);
	controller_free(&next);
}

static void a_term_per_start(void **fixture)
{
	struct controller *c = *fixture;
	struct controller next;

	uint64_t term = state_node_table(c->state)->term;
	controller_register(c, 1, NULL);
	controller_init(&next, (struct state_limits){0});
	assert_int_equal(controller_replay(&next, &c->log, c->log.count), 0);
	controller_open(&next);
	assert_int_equal(state_node_table(next.state)->term, term + 1); // the clock stood still
	assert_int_equal(state_index(next.state), state_index(c->state) + 1);
	assert_int_equal(node_at(&next, 0)->generation, 1);
	controller_verify(&next);
	controller_free(&next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_node_becomes_ready),
		TEST(workers_have_blocks_of_their_own),
		TEST(registrations_have_an_order),
		TEST(a_repeat_does_not_raise_the_dead),
		TEST(bad_descriptions_are_refused),
		TEST(silence_and_return),
		TEST(a_smaller_node_keeps_what_it_runs),
		TEST(devices_follow_their_group),
		TEST(a_request_is_answered_twice_alike),
		TEST(placement_says_why_not),
		TEST(numbers_are_not_given_twice),
		TEST(release_of_each_kind),
		TEST(changes_come_in_pages),
		cmocka_unit_test(a_choice_that_does_not_fit_is_refused),
		TEST(versions_of_a_job),
		TEST(stopping_and_collecting),
		TEST(a_purged_job_may_come_back),
		cmocka_unit_test(tables_are_bounded),
		TEST(little_room_refuses_growth_only),
		TEST(a_slow_disk_is_counted),
		TEST(a_full_disk_is_waited_for),
		TEST(deletions_wait_for_their_batch),
		TEST(a_large_collection_comes_in_pieces),
		cmocka_unit_test(a_broken_log_ends_it),
		TEST(reads_keep_their_place),
		TEST(a_term_per_start),
		TEST(a_new_store_goes_on_above_the_terms_of_the_old),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
