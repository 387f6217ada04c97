// Random lives of a controller against a naive model, and everything that must be able to stand in
// for it: its log, any beginning of its log, its snapshot, a snapshot and the rest of the log.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/snapshot/snapshot_view.h"
#include "tests/state/properties/random_run.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 1 + 5 / BUILD_SLOWNESS, STEPS = 400 };

static void assert_same(const struct bytes_writer *a, const struct bytes_writer *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->data, b->data, a->size);
}

static void live(struct random_run *r, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		random_run_step(r);
		if (i % 40 == 0) {
			controller_verify(&r->controller);
			model_compare(r->model, r->controller.state);
			work_compare(r->work.work, r->model, r->controller.state);
		}
	}
	controller_verify(&r->controller);
	model_compare(r->model, r->controller.state);
	work_compare(r->work.work, r->model, r->controller.state);
}

static void replay_is_the_same(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random_run r;
		struct controller again;
		print_message("seed %lu\n", (unsigned long)seed);
		random_run_init(&r, seed);
		live(&r, STEPS);
		controller_init(&again, (struct state_limits){.nodes = MODEL_NODES_MAX});
		const struct memory_log *log = &r.controller.log;
		assert_int_equal(controller_replay(&again, log, log->count), 0);
		controller_verify(&again);
		struct bytes_writer a = controller_image(&r.controller);
		struct bytes_writer b = controller_image(&again);
		assert_same(&a, &b);
		bytes_writer_free(&a);
		bytes_writer_free(&b);
		controller_free(&again);
		random_run_free(&r);
	}
}

static void every_beginning_of_the_log_stands(void **unused)
{
	struct random_run r;

	random_run_init(&r, 100);
	live(&r, STEPS);
	const struct memory_log *log = &r.controller.log;
	for (uint32_t count = 0; count <= log->count; count += 1 + count / 8) {
		struct controller again;
		controller_init(&again, (struct state_limits){.nodes = MODEL_NODES_MAX});
		assert_int_equal(controller_replay(&again, log, count), 0);
		controller_verify(&again);
		controller_open(&again);
		controller_verify(&again);
		controller_free(&again);
	}
	random_run_free(&r);
}

// A snapshot of any moment, and the log from there, lead to the same end.
static void a_snapshot_and_the_rest_lead_there(void **unused)
{
	for (uint64_t seed = 200; seed < 200 + SEEDS; seed++) {
		struct random_run r;
		struct controller again;
		random_run_init(&r, seed);
		live(&r, STEPS / 2);
		struct bytes_writer half = controller_image(&r.controller);
		live(&r, STEPS / 2);

		controller_init(&again, (struct state_limits){.nodes = MODEL_NODES_MAX});
		assert_int_equal(controller_load(&again, &half), 0);
		controller_verify(&again);
		struct bytes_writer loaded = controller_image(&again);
		assert_same(&half, &loaded);
		const struct memory_log *log = &r.controller.log;
		assert_int_equal(controller_replay(&again, log, log->count), 0);
		controller_verify(&again);
		struct bytes_writer a = controller_image(&r.controller);
		struct bytes_writer b = controller_image(&again);
		assert_same(&a, &b);
		bytes_writer_free(&half);
		bytes_writer_free(&loaded);
		bytes_writer_free(&a);
		bytes_writer_free(&b);
		controller_free(&again);
		random_run_free(&r);
	}
}

static void take_items(struct snapshot_view *view, struct bytes_writer *image)
{
	struct bytes_writer item = bytes_writer_growing(4096);

	while (snapshot_view_next(view, &item)) {
		bytes_put_u32(image, (uint32_t)item.size);
		bytes_put(image, item.data, item.size);
		item.size = 0;
	}
	bytes_writer_free(&item);
}

static struct bytes_writer image_after_load(const struct bytes_writer *image)
{
	struct controller c;

	controller_init(&c, (struct state_limits){.nodes = MODEL_NODES_MAX});
	assert_int_equal(controller_load(&c, image), 0);
	controller_verify(&c);
	struct bytes_writer again = controller_image(&c);
	controller_free(&c);
	return again;
}

// A view that is read late shows the moment at which it was begun. A job's status and versions that
// are let go of meanwhile are not part of that moment; loading sets both right.
static void a_view_stands_still(void **unused)
{
	for (uint64_t seed = 300; seed < 300 + SEEDS; seed++) {
		struct random_run r;
		random_run_init(&r, seed);
		live(&r, STEPS / 4);
		struct snapshot_view *view = snapshot_view_begin(r.controller.state);
		struct bytes_writer at_once = controller_image(&r.controller);
		struct bytes_writer late = bytes_writer_growing(4096);
		live(&r, STEPS / 4);
		take_items(view, &late);
		snapshot_view_end(view);
		live(&r, 20);

		struct bytes_writer a = image_after_load(&at_once);
		struct bytes_writer b = image_after_load(&late);
		assert_same(&a, &b);
		bytes_writer_free(&a);
		bytes_writer_free(&b);
		bytes_writer_free(&at_once);
		bytes_writer_free(&late);
		random_run_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replay_is_the_same),
		cmocka_unit_test(every_beginning_of_the_log_stands),
		cmocka_unit_test(a_snapshot_and_the_rest_lead_there),
		cmocka_unit_test(a_view_stands_still),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
