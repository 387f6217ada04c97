// Items of a snapshot that do not belong together, or that are none: the first that is wrong ends the load.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/snapshot/snapshot_item.h"
#include "state/snapshot/snapshot_view.h"
#include "tests/state/acls.h"
#include "tests/state/deployments.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ITEM_MOST = 4096 };

// How all items of a kind are changed.
enum how { DROPPED, DOUBLED, SHORTER, LONGER, SET, SAID };
struct edit {
	uint8_t kind;
	enum how how;
	int error;             // of the load
	uint32_t at;           // SET: this byte
	uint8_t value;         // to this value
	const char *from, *to; // SAID: of the same length
};

// Where parts of items stand (snapshot_view.c, snapshot_job.h).
enum {
	FIRST = 1,           // behind the kind
	HIGHEST = FIRST + 3, // byte of an u32 that stands first
	GENERATION = FIRST + 4,
	CHANGED_AT = FIRST + 16 + 8,                                        // of an allocation
	COUNTERS = FIRST + 8 + (2 + 7) + (2 + 3) + 8 + 8 + 8 + (1 + 8) + 4, // of job "web"
};

static const struct edit edits[] = {
	{SNAPSHOT_HEAD, DROPPED, -ERROR_CORRUPT},
	{SNAPSHOT_HEAD, DOUBLED, -ERROR_CORRUPT},
	{SNAPSHOT_HEAD, SET, -ERROR_CORRUPT, FIRST, 3}, // what follows is of later
	{SNAPSHOT_HEAD, SHORTER, -ERROR_CORRUPT},
	{SNAPSHOT_NAMESPACED, SET, -ERROR_CORRUPT, 0, SNAPSHOT_HEAD},
	{SNAPSHOT_NAMESPACED, SET, -ERROR_VERSION, 0, 0xff},
	{SNAPSHOT_NAMESPACED, LONGER, -ERROR_CORRUPT},
	{SNAPSHOT_CLIENT, DROPPED, -ERROR_CORRUPT},
	{SNAPSHOT_CLIENT, DOUBLED, -ERROR_CORRUPT},
	{SNAPSHOT_CLIENT, SHORTER, -ERROR_CORRUPT},
	{SNAPSHOT_CLASS, DROPPED, -ERROR_CORRUPT},
	{SNAPSHOT_CLASS, SET, -ERROR_CORRUPT, FIRST, 9}, // not the next number
	{SNAPSHOT_CLASS, SAID, -ERROR_CORRUPT, .from = "cpu.arch",
		.to = "unique.a"}, // a node's own
	{SNAPSHOT_CLASS, SAID, -ERROR_CORRUPT, .from = "cpu.arch", .to = "cpu\tarch"},
	{STATE_NODES, DROPPED, -ERROR_CORRUPT},
	{STATE_NODES, DOUBLED, -ERROR_CORRUPT},
	{STATE_NODES, SHORTER, -ERROR_CORRUPT},
	{STATE_NODES, LONGER, -ERROR_CORRUPT},
	{STATE_NODES, SET, -ERROR_TABLE_FULL, HIGHEST, 0x7f},
	{STATE_NODES, SET, -ERROR_CORRUPT, GENERATION, 0},
	{SNAPSHOT_FREE_SLOT, SET, -ERROR_TABLE_FULL, HIGHEST, 0x7f},
	{SNAPSHOT_FREE_SLOT, SET, -ERROR_CORRUPT, GENERATION, 0},
	{SNAPSHOT_FREE_SLOT, SHORTER, -ERROR_CORRUPT},
	{SNAPSHOT_FREE_SLOT, DOUBLED, -ERROR_CORRUPT},
	{STATE_JOB_VERSIONS, DROPPED, -ERROR_CORRUPT},
	{STATE_JOB_VERSIONS, DOUBLED, -ERROR_CORRUPT},
	{STATE_JOB_VERSIONS, SHORTER, -ERROR_CORRUPT},
	{STATE_JOBS, DROPPED, -ERROR_CORRUPT},
	{STATE_JOBS, DOUBLED, -ERROR_CORRUPT},
	{STATE_JOBS, SHORTER, -ERROR_CORRUPT},
	{STATE_JOBS, SET, -ERROR_CORRUPT, COUNTERS, 9}, // more than its groups
	{STATE_JOBS, SAID, -ERROR_CORRUPT, .from = "web", .to = "wob"},
	{STATE_ALLOCATIONS, DOUBLED, -ERROR_CORRUPT},
	{STATE_ALLOCATIONS, SHORTER, -ERROR_CORRUPT},
	{STATE_ALLOCATIONS, SET, -ERROR_CORRUPT, CHANGED_AT, 0xff}, // later than all
	{STATE_PLACE_REQUESTS, DOUBLED, -ERROR_CORRUPT},
	{STATE_PLACE_REQUESTS, SHORTER, -ERROR_CORRUPT},
	{STATE_DEPLOYMENTS, SHORTER, -ERROR_CORRUPT},
	{STATE_DEPLOYMENTS, SAID, -ERROR_CORRUPT, .from = "app", .to = "ape"}, // no job
	{STATE_DEPLOYMENTS, SAID, -ERROR_CORRUPT, .from = "two", .to = "app"}, // has one
	{STATE_ACL_ROLES, SAID, -ERROR_CORRUPT, .from = "2-role", .to = "1-role"},
	{STATE_ACL_POLICIES, SHORTER, -ERROR_CORRUPT},
	{STATE_ACL_POLICIES, DOUBLED, -ERROR_CORRUPT},
	{STATE_ACL_POLICIES, SAID, -ERROR_CORRUPT, .from = "second", .to = "1-read"}, // the first's
	{STATE_ACL_POLICIES, SAID, -ERROR_CORRUPT, .from = "second", .to = "se\tond"},
};

// Three nodes, of which one was forgotten; direct job "web" with two allocations of client "ann", one of which is
// released; a deployment of "app" with an allocation that was found healthy, and one of "two"; two roles and tokens.
static struct controller *fill(void)
{
	static const struct resources small = {1000, 1000, 100};
	static const struct uuid nobody; // a new id
	struct controller *c = controller_with_nodes((struct state_limits){.deployments = 8}, 3);
	struct command_place place;
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(2)}};

	controller_job(c, build_job("web", &small, 1));
	controller_place(c, "ann", "web", 1, 2, &place);
	struct uuid ended = place.items[1].allocation;
	controller_release(c, &ended, 1, NULL);
	struct planned_job job = deployed_job(c, "app", 50);
	struct plan *plan = plan_deployment(&job, build_deployment(c, "app", 1, 2));
	plan_deployed(plan, 100, 1, 1, true);
	commit_plan(c, plan);
	job = deployed_job(c, "two", 50);
	plan = plan_deployment(&job, build_deployment(c, "two", 2, 2));
	plan_deployed(plan, 200, 1, 2, true);
	commit_plan(c, plan);
	report_health(c, 1, 100, (struct optional_bool){true, true});
	assert_int_equal(put_policy(c, build_policy("1-read", "")), OUTCOME_DONE);
	assert_int_equal(put_policy(c, build_policy("second", "")), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(nobody, "1-role", "1-read"), NULL), OUTCOME_DONE);
	assert_int_equal(put_role(c, build_role(nobody, "2-role", "1-read"), NULL), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, nobody, 1, ""), NULL), OUTCOME_DONE);
	assert_int_equal(put_token(c, build_token(c, nobody, 2, ""), NULL), OUTCOME_DONE);
	assert_int_equal(controller_node(c, COMMAND_NODE_EXPIRED, 2, 1), OUTCOME_DONE);
	assert_int_equal(controller_run(c, &purge), OUTCOME_DONE);
	return c;
}

static void change(const struct edit *edit, uint8_t *item, uint32_t *size)
{
	switch (edit->how) {
	case SHORTER: --*size; break;
	case LONGER: item[(*size)++] = 0; break;
	case SET: item[edit->at] = edit->value; break;
	case SAID: {
		size_t length = strlen(edit->to);
		char *said = memmem(item, *size, edit->from, length);
		if (said)
			memcpy(said, edit->to, length);
	} break;
	default: break;
	}
}

// Returns the load's error; edit NULL: nothing is changed.
static int load_edited(
	const struct bytes_writer *image, struct state_limits limits, const struct edit *edit)
{
	struct bytes_reader r = bytes_reader_over(image->data, image->size);
	struct bytes_writer edited = bytes_writer_growing(image->size);
	struct controller c;
	bool is_found = !edit;

	while (bytes_left(&r) > 0) {
		uint8_t item[ITEM_MOST];
		uint32_t size = bytes_take_u32(&r), times = 1;
		assert_true(size < ITEM_MOST);
		memcpy(item, bytes_take(&r, size), size);
		if (edit && item[0] == edit->kind) {
			is_found = true;
			times = edit->how == DROPPED ? 0 : edit->how == DOUBLED ? 2 : 1;
			change(edit, item, &size);
		}
		for (uint32_t i = 0; i < times; i++) {
			bytes_put_u32(&edited, size);
			bytes_put(&edited, item, size);
		}
	}
	assert_true(is_found);
	controller_init(&c, limits);
	int error = controller_load(&c, &edited);
	controller_free(&c);
	bytes_writer_free(&edited);
	return error;
}

static void items_belong_together(void **unused)
{
	const struct state_limits limits = {.deployments = 8}, few = {.allocations = 1};
	struct controller *c = fill();
	struct bytes_writer image = controller_image(c);

	assert_int_equal(load_edited(&image, limits, NULL), 0);
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
		int error = load_edited(&image, limits, &edits[i]);
		if (error != edits[i].error)
			fail_msg("edit %zu of kind %u ends with %d", i, edits[i].kind, error);
	}
	assert_int_equal(load_edited(&image, few, NULL), -ERROR_TABLE_FULL);
	bytes_writer_free(&image);
	image = bytes_writer_growing(16);
	assert_int_equal(load_edited(&image, limits, NULL), -ERROR_CORRUPT); // nothing at all
	bytes_writer_free(&image);
	controller_end(c);
}

// Two allocations cannot have changed at one index.
static void no_two_changes_are_one(void **unused)
{
	struct controller *c = fill();
	struct bytes_writer image = controller_image(c);
	struct bytes_reader r = bytes_reader_over(image.data, image.size);
	const uint64_t newest = state_index(c->state);
	uint32_t changed = 0;

	while (bytes_left(&r) > 0) {
		uint8_t *item = (uint8_t *)(uintptr_t)bytes_take(&r, bytes_take_u32(&r));
		if (item[0] != STATE_ALLOCATIONS)
			continue;
		memcpy(item + CHANGED_AT, &newest, sizeof newest);
		changed++;
	}
	assert_int_equal(changed, 4);
	assert_int_equal(
		load_edited(&image, (struct state_limits){.deployments = 8}, NULL), -ERROR_CORRUPT);
	bytes_writer_free(&image);
	controller_end(c);
}

static void no_two_tokens_have_one_secret(void **unused)
{
	struct controller *c = fill();
	struct bytes_writer image = controller_image(c);
	const struct acl_secret_hash first = number_secret(1), second = number_secret(2);
	void *said = memmem(image.data, image.size, &second, sizeof second);

	assert_non_null(said);
	memcpy(said, &first, sizeof first);
	assert_int_equal(
		load_edited(&image, (struct state_limits){.deployments = 8}, NULL), -ERROR_CORRUPT);
	bytes_writer_free(&image);
	controller_end(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_belong_together),
		cmocka_unit_test(no_two_changes_are_one),
		cmocka_unit_test(no_two_tokens_have_one_secret),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
