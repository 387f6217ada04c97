// Entries that may not follow the state as it is are refused before they touch it, and batches that do not add up.
#include "state/apply/replay.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/nodes/node_description.h"
#include "tests/state/apply/refused.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resources small = {1000, 1000, 100};

struct fixture {
	struct controller c;
	struct node_registration *node;
	struct uuid living, ended;
	uint64_t job_version;
};

// One ready node, one that is down, a job with a living and an ended allocation, a client, a
// request.
static int set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	struct command_place place;

	f->node = memory_take(sizeof *f->node);
	controller_init(&f->c, (struct state_limits){.nodes = 3, .jobs = 2, .clients = 2});
	controller_open(&f->c);
	controller_register(&f->c, 1, NULL);
	controller_register(&f->c, 2, NULL);
	controller_node(&f->c, COMMAND_NODE_EXPIRED, 1, 1);
	controller_job(&f->c, build_job("web", &small, 1));
	f->job_version = state_index(f->c.state);
	controller_place(&f->c, "ann", "web", 1, 2, &place);
	f->living = place.items[0].allocation;
	f->ended = place.items[1].allocation;
	controller_release(&f->c, &f->ended, 1, NULL);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	controller_verify(&f->c);
	controller_free(&f->c);
	free(f->node);
	free(f);
	return 0;
}

static void terms_and_clients(void **state)
{
	struct fixture *f = *state;
	struct entry e = {.kind = ENTRY_TERM, .term = f->c.state->term + 1};

	REFUSED(&f->c, e, e.term, f->c.state->term);
	REFUSED(&f->c, e, e.term, 0);
	e = (struct entry){.kind = ENTRY_CLIENT, .client = {1, TEXT("bob")}};
	REFUSED(&f->c, e, e.client.number, 0);
	REFUSED(&f->c, e, e.client.number, 2);
	REFUSED(&f->c, e, e.client.name, TEXT(""));
	REFUSED(&f->c, e, e.client.name, TEXT("ann"));
	REFUSED(&f->c, e, e.client.name, TEXT("b\tb"));
}

static void nodes(void **state)
{
	struct fixture *f = *state;
	struct entry e = {.kind = ENTRY_NODE_REGISTER, .node_register = {2, 1, 0, f->node}};

	build_node(f->node, 7, 1);
	assert_true(node_description_complete(f->node));
	REFUSED(&f->c, e, e.node_register.slot, 0);
	REFUSED(&f->c, e, e.node_register.slot, 2 * NODE_BLOCK_SLOTS);
	REFUSED(&f->c, e, e.node_register.generation, 2);
	REFUSED(&f->c, e, e.node_register.owner, WORKERS_MAX);
	e.node_register.slot = UINT32_MAX;
	assert_int_equal(checked(&f->c, &e), -ERROR_TABLE_FULL);

	build_node(f->node, 1, UINT64_MAX);
	assert_true(node_description_complete(f->node));
	e.node_register = (struct entry_node_register){0, 2, 0, f->node};
	REFUSED(&f->c, e, e.node_register.slot, 2);
	REFUSED(&f->c, e, e.node_register.generation, 1);
	REFUSED(&f->c, e, f->node->sequence, 1);

	e = (struct entry){
		.kind = ENTRY_NODE_STATUS, .node_status = {0, 1, NODE_DOWN, NODE_CAUSE_EXPIRED}};
	REFUSED(&f->c, e, e.node_status.slot, 1); // down already
	REFUSED(&f->c, e, e.node_status.slot, 2);
	REFUSED(&f->c, e, e.node_status.slot, UINT32_MAX);
	REFUSED(&f->c, e, e.node_status.generation, 2);
	REFUSED(&f->c, e, e.node_status.status, NODE_READY);
	REFUSED(&f->c, e, e.node_status.status, NODE_INITIALIZING);
	REFUSED(&f->c, e, e.node_status.status, 200);
	REFUSED(&f->c, e, e.node_status.cause, NODE_CAUSES);
}

static void standings(void **state)
{
	struct fixture *f = *state;
	struct standing_change items[] = {
		{0, 1, STANDING_REJOINED, {0}}, {1, 1, STANDING_BY_TIME, {.forgotten = true}}};
	struct entry e = {.kind = ENTRY_NODE_STANDING, .standing = {2, items}};

	REFUSED(&f->c, e, items[0].slot, 1);
	REFUSED(&f->c, e, items[0].slot, 2);
	REFUSED(&f->c, e, items[1].slot, UINT32_MAX);
	REFUSED(&f->c, e, items[1].generation, 2);
	REFUSED(&f->c, e, items[0].standing.forgotten, true); // it cannot be in a group then
}

static void jobs(void **state)
{
	struct fixture *f = *state;
	uint64_t next = state_index(f->c.state) + 1;
	struct job *job = build_job("db", &small, 1);
	struct entry e = {.kind = ENTRY_JOB_REGISTER, .job_register = {job}};
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);

	job->record.create_index = job->record.modify_index = job->job_modify_index = next;
	REFUSED(&f->c, e, job->record.modify_index, next + 1);
	REFUSED(&f->c, e, job->job_modify_index, next - 1);
	REFUSED(&f->c, e, job->record.create_index, next - 1);
	REFUSED(&f->c, e, job->version, 1);
	REFUSED(&f->c, e, job->id, NULL);
	REFUSED(&f->c, e, job->namespace_name, NULL);
	REFUSED(&f->c, e, group->name, NULL);
	REFUSED(&f->c, e, job->task_groups.count, 0);
	REFUSED(&f->c, e, job->asks.count, 0);
	entry_release(&e);

	e = (struct entry){.kind = ENTRY_JOB_DEREGISTER,
		.job_deregister = {TEXT("default"), TEXT("web"), false}};
	REFUSED(&f->c, e, e.job_deregister.id, TEXT("db"));
	controller_stop_job(&f->c, "web", false);
	assert_int_equal(checked(&f->c, &e), -ERROR_CORRUPT); // twice
	e.job_deregister.purge = true;
	assert_int_equal(checked(&f->c, &e), 0);
}

static void placements(void **state)
{
	struct fixture *f = *state;
	struct entry e = {.kind = ENTRY_ALLOC_PLACE,
		.alloc_place = {
			.id = number_uuid(9),
			.generation = 1,
			.job_version = f->job_version,
			.number = 2,
			.resources = small,
		}};
	struct entry_alloc_place *p = &e.alloc_place;

	REFUSED(&f->c, e, p->id, f->living);
	REFUSED(&f->c, e, p->id, (struct uuid){{0}});
	REFUSED(&f->c, e, p->slot, 1); // down
	REFUSED(&f->c, e, p->slot, 2);
	REFUSED(&f->c, e, p->slot, UINT32_MAX);
	REFUSED(&f->c, e, p->generation, 2);
	REFUSED(&f->c, e, p->client, 1);
	REFUSED(&f->c, e, p->job_version, 1);
	REFUSED(&f->c, e, p->group, 1);
	REFUSED(&f->c, e, p->number, 1);
	REFUSED(&f->c, e, p->resources.cpu_mhz, 3001);
	REFUSED(&f->c, e, p->resources.memory_mb, UINT32_MAX);
	REFUSED(&f->c, e, p->devices.groups[0], 1);
	REFUSED(&f->c, e, p->devices.groups[3], 1);
	REFUSED(&f->c, e, p->score, __builtin_nan(""));
	struct entry place = e;

	e = (struct entry){.kind = ENTRY_PLACE_REQUEST,
		.place_request = {.issued_ms = controller_now_ms(&f->c), .request = 2, .count = 1}};
	REFUSED(&f->c, e, e.place_request.client, 1);
	REFUSED(&f->c, e, e.place_request.request, 1);
	e = (struct entry){.kind = ENTRY_ALLOC_RELEASE, .alloc_release = {2, {f->living}}};
	e.alloc_release.count = 1;
	REFUSED(&f->c, e, e.alloc_release.ids[0], f->ended);
	REFUSED(&f->c, e, e.alloc_release.ids[0], number_uuid(9));
	e.alloc_release = (struct entry_alloc_release){2, {f->living, f->living}};
	assert_int_equal(checked(&f->c, &e), -ERROR_CORRUPT);
	assert_int_equal(checked(&f->c, &place), 0);
	controller_stop_job(&f->c, "web", false);
	assert_int_equal(checked(&f->c, &place), -ERROR_CORRUPT);
}

// As the log is read at a start: by who applies, or by a thread that is ahead of it.
static int replay_one(const struct bytes_writer *w, uint64_t first_index, bool is_ahead)
{
	struct controller c;
	struct replay_batch *batch = replay_batch_open(w->data, (uint32_t)w->size);

	controller_init(&c, (struct state_limits){0});
	if (is_ahead)
		replay_batch_decode(batch);
	int error = applier_replay(c.applier, first_index, batch);
	replay_batch_free(batch);
	controller_free(&c);
	return error;
}

static void expect_replayed(const struct bytes_writer *w, uint64_t first_index, int error)
{
	assert_int_equal(replay_one(w, first_index, false), error);
	assert_int_equal(replay_one(w, first_index, true), error);
}

// An entry, a second one unless it is NULL, and bytes that are none.
static struct bytes_writer batch_of(
	const struct batch_header *header, const struct entry *second, uint32_t rest)
{
	struct entry first = {.kind = ENTRY_TERM, .term = 1};
	struct bytes_writer w = bytes_writer_growing(64);

	bytes_put_zeros(&w, BATCH_HEADER_BYTES);
	entry_encode(&first, &w);
	if (second)
		entry_encode(second, &w);
	bytes_put_zeros(&w, rest);
	batch_seal(&w, header);
	return w;
}

// What passed once does not pass in a batch whose header tells another story.
static void batches_that_do_not_add_up(void **state)
{
	const struct batch_header headers[] = {
		{1, 2, 1}, {1, 1, 2}, {1, 0, 1}, {2, 1, 1}, {1, 1, 0}, {1, 1, 1}};

	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		struct bytes_writer w = batch_of(&headers[i], NULL, 0);
		expect_replayed(&w, headers[i].first_index, i == 5 ? 0 : -ERROR_CORRUPT);
		bytes_writer_free(&w);
	}
}

static void batches_that_do_not_read(void **state)
{
	const struct batch_header one = {1, 1, 1}, two = {1, 2, 2};
	struct entry twice = {.kind = ENTRY_TERM, .term = 1};
	struct entry job = {
		.kind = ENTRY_JOB_REGISTER, .job_register = {build_job("web", &small, 1)}};

	struct bytes_writer w = batch_of(&one, NULL, 5);
	expect_replayed(&w, 1, -ERROR_CORRUPT); // more than the entries that it names
	bytes_writer_free(&w);
	w = batch_of(&two, NULL, 5);
	expect_replayed(&w, 1, -ERROR_CORRUPT); // its second entry is cut short
	bytes_writer_free(&w);
	w = batch_of(&two, &twice, 0);
	expect_replayed(&w, 1, -ERROR_CORRUPT);
	w.data[BATCH_HEADER_BYTES] = 0xff; // of a kind that nobody knows
	batch_seal(&w, &two);
	expect_replayed(&w, 1, -ERROR_VERSION);
	w.data[w.size - 1] ^= 1;
	expect_replayed(&w, 1, -ERROR_CORRUPT); // its checksum does not match
	bytes_writer_free(&w);
	w = batch_of(&two, &job, 0);
	expect_replayed(&w, 1, -ERROR_CORRUPT); // it has no index
	bytes_writer_free(&w);
	entry_release(&job);
}

// A namespace counts against its quota, so that has to be there.
static void namespaces(void **state)
{
	struct fixture *f = *state;
	struct job_namespace *n = record_create(&job_namespace_description);
	struct entry e = {.kind = ENTRY_RECORD_PUT, .record_put = {STATE_NAMESPACES, false, n}};
	char nobodys[] = "nobodys", bad[] = "a\tb";

	n->name = text_copy(TEXT("team"));
	REFUSED(&f->c, e, n->quota, nobodys);
	REFUSED(&f->c, e, n->name, bad);
	record_free(&job_namespace_description, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(terms_and_clients, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(standings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(jobs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(placements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(namespaces, set_up, tear_down),
		cmocka_unit_test(batches_that_do_not_add_up),
		cmocka_unit_test(batches_that_do_not_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
