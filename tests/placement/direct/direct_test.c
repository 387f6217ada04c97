// Placement behind the real applier: it must choose what a check of every node would choose.
#include "placement/direct/fleet_mirror.h"
#include "placement/direct/placement.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/tables.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NODES 60u

static const struct resources asks[] = {{300, 256, 300}, {1000, 3000, 100}, {100, 64, 20000}};
static const uint32_t gpus[] = {0, 0, 2};

struct world {
	struct controller controller;
	struct placement *placement;
	enum placement_algorithm algorithm;
	struct prng prng;
	uint64_t request;
	struct uuid live[4096];
	uint32_t live_count;
	uint32_t generation[NODES];
};

static void open_world(struct world *w, enum placement_algorithm algorithm,
	const struct memory_log *log, uint32_t batches)
{
	controller_init(&w->controller, (struct state_limits){.nodes = 8192});
	w->algorithm = algorithm;
	w->placement = placement_create(w->controller.state, algorithm);
	w->controller.placer = placement_placer(w->placement);
	if (log)
		assert_int_equal(controller_replay(&w->controller, log, batches), 0);
	controller_open(&w->controller);
	prng_seed(&w->prng, 1);
}

static void close_world(struct world *w)
{
	controller_free(&w->controller);
	placement_destroy(w->placement);
}

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static uint32_t free_gpus(const struct node_cell *cell)
{
	uint32_t most = 0;
	const struct node_class *c = cell->working->node_class;
	for (uint32_t i = 0; i < c->device_count; i++) {
		uint64_t all = (1ull << c->devices[i].instances) - 1;
		uint32_t count =
			(uint32_t)__builtin_popcountll(all & ~node_devices_used(cell)->groups[i]);
		most = count > most ? count : most;
	}
	return most;
}

static uint32_t naive(const struct world *w, uint32_t group, double *score)
{
	uint32_t best = PLACER_NO_NODE;
	*score = -1;
	for (uint32_t slot = 0; slot < state_node_slots(w->controller.state); slot++) {
		const struct node_cell *cell = state_node_cell(w->controller.state, slot);
		if (!cell || !cell->working || cell->working->status != NODE_READY)
			continue;
		struct resources capacity = node_capacity(cell->working);
		struct resources used = resources_plus(cell->used, asks[group]);
		if (!resources_fit(used, capacity) || free_gpus(cell) < gpus[group])
			continue;
		double own = placement_score(w->algorithm, capacity, used);
		if (own > *score) {
			*score = own;
			best = slot;
		}
	}
	return best;
}

static void register_node(struct world *w, uint32_t number)
{
	struct node_registration r;
	build_node(&r, number, ++w->request + (uint64_t)CONTROLLER_WALL_MS);
	r.total.cpu_mhz = 2000 + 1000 * below(w, 4);
	r.total.memory_mb = 4096 + 2048 * below(w, 4);
	if (below(w, 2)) {
		r.device_group_count = 1;
		r.device_groups[0] = (struct node_device_group){
			TEXT("nvidia"), TEXT("gpu"), TEXT("t4"), (uint8_t)(1 + below(w, 8))};
	}
	assert_int_equal(core_join(&w->controller.core, &r), OUTCOME_DONE);
	w->generation[r.slot] = r.generation;
}

static void place(struct world *w, const char *job)
{
	static const char *const groups[] = {"g0", "g1", "g2"};
	uint32_t group = below(w, 3);
	double score;
	uint32_t slot = naive(w, group, &score);
	struct command_place place = {.client = TEXT("c"),
		.issued_ms = controller_now_ms(&w->controller),
		.request = ++w->request,
		.count = 1,
		.namespace_name = TEXT("default"),
		.job = text_of(job),
		.group = text_of(groups[group])};
	struct command command = {.type = COMMAND_PLACE, .place = &place};
	enum command_outcome outcome = controller_run(&w->controller, &command);
	if (slot == PLACER_NO_NODE) {
		assert_int_equal(outcome, OUTCOME_NO_NODE);
		return;
	}
	assert_int_equal(outcome, OUTCOME_DONE);
	assert_int_equal(place.items[0].node_slot, slot);
	assert_memory_equal(&place.items[0].score, &score, sizeof score);
	if (w->live_count < 4096)
		w->live[w->live_count++] = place.items[0].allocation;
}

static void release(struct world *w)
{
	if (w->live_count == 0)
		return;
	uint32_t i = below(w, w->live_count);
	struct command_release r;
	controller_release(&w->controller, &w->live[i], 1, &r);
	w->live[i] = w->live[--w->live_count];
}

static void step(struct world *w, const char *job)
{
	const struct placer *placer = &w->controller.placer;
	uint32_t what = below(w, 100), slot = below(w, NODES);
	if (below(w, 8) == 0) // now and then there is time, but not for all work
		placer->catch_up(placer->context, below(w, 3));
	if (what < 60)
		place(w, job);
	else if (what < 85)
		release(w);
	else if (what < 90)
		register_node(w, slot + 1);
	else
		controller_node(&w->controller,
			what < 94 ? COMMAND_NODE_EXPIRED : COMMAND_NODE_RETURNED, slot,
			w->generation[slot]);
}

static void count_violation(const char *text, void *context)
{
	print_error("%s\n", text);
	++*(uint32_t *)context;
}

static void assert_sound(const struct world *w)
{
	uint32_t violations = 0;
	state_verify(w->controller.state, count_violation, &violations);
	assert_int_equal(violations, 0);
}

static void run(enum placement_algorithm algorithm)
{
	struct world *w = calloc(1, sizeof *w);
	open_world(w, algorithm, NULL, 0);
	for (uint32_t i = 1; i <= NODES; i++)
		register_node(w, i);
	controller_job(&w->controller, build_device_job("a", asks, gpus, 3));
	controller_job(&w->controller, build_device_job("b", asks, gpus, 3));
	for (uint32_t i = 0; i < 3000; i++)
		step(w, below(w, 2) ? "a" : "b");
	assert_sound(w);
	const struct placement_counters *c = placement_counters(w->placement);
	assert_true(c->decisions > 500);
	assert_true(c->refusals > 0);

	// A job gets a new version, and another ends: nothing asks the caches of the old ones.
	struct resources other[] = {{500, 100, 10}};
	controller_job(&w->controller, build_job("a", other, 1));
	controller_stop_job(&w->controller, "b", true);
	struct command_place p;
	assert_int_equal(controller_place(&w->controller, "c", "b", ++w->request, 1, &p),
		OUTCOME_UNKNOWN_JOB);
	assert_sound(w);
	close_world(w);
	free(w);
}

static void chooses_as_the_naive_scan_binpack(void **state)
{
	run(PLACEMENT_BINPACK);
}
static void chooses_as_the_naive_scan_spread(void **state)
{
	run(PLACEMENT_SPREAD);
}

// After a restart placement learns every node's present state, use included.
static void goes_on_after_a_restart(void **state)
{
	struct world *w = calloc(1, sizeof *w), *again = calloc(1, sizeof *again);
	open_world(w, PLACEMENT_BINPACK, NULL, 0);
	for (uint32_t i = 1; i <= NODES; i++)
		register_node(w, i);
	controller_job(&w->controller, build_device_job("a", asks, gpus, 3));
	for (uint32_t i = 0; i < 300; i++)
		step(w, "a");
	open_world(again, PLACEMENT_BINPACK, &w->controller.log, w->controller.log.count);
	again->request = w->request + 1000;
	memcpy(again->generation, w->generation, sizeof w->generation);
	for (uint32_t i = 0; i < 300; i++)
		step(again, "a");
	assert_sound(again);
	close_world(again);
	close_world(w);
	free(again);
	free(w);
}

// A refusal's numbers reach the command.
static void a_refusal_says_why(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	open_world(w, PLACEMENT_BINPACK, NULL, 0);
	for (uint32_t i = 1; i <= 5; i++)
		register_node(w, i);
	controller_node(&w->controller, COMMAND_NODE_EXPIRED, 0, w->generation[0]);
	struct resources large[] = {{1, 1000000, 1}};
	controller_job(&w->controller, build_job("large", large, 1));
	struct command_place p;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(
			controller_place(&w->controller, "c", "large", ++w->request, 1, &p),
			OUTCOME_NO_NODE);
		assert_int_equal(p.refusal.nodes_seen, 5);
		assert_int_equal(p.refusal.nodes_not_ready, 1);
		assert_int_equal(p.refusal.exhausted_memory, 4);
	}
	const struct placement_counters *c = placement_counters(w->placement);
	assert_int_equal(c->refusals, 2);
	assert_int_equal(c->scans, 1); // the second was known
	close_world(w);
	free(w);
}

static uint32_t left_of(uint32_t capacity, uint32_t used)
{
	return capacity > used ? capacity - used : 0; // a node may register again with less
}

static void assert_mirrored(struct world *w, const struct fit_index *x, uint32_t slot)
{
	const struct node *n = state_node_at(w->controller.state, slot);
	const struct fit_node *f = fit_index_node(x, slot);
	struct node_use use = state_node_use(w->controller.state, slot);

	assert_int_equal(f->place != FIT_ABSENT, n != NULL);
	if (!n)
		return;
	struct resources capacity = node_capacity(n);
	assert_int_equal(fit_is_ready(f), node_is_usable(n));
	assert_int_equal(f->node_class, n->node_class->id);
	assert_ptr_equal(fit_index_class(x, f->node_class), n->node_class);
	assert_int_equal(f->cpu_free, left_of(capacity.cpu_mhz, use.used.cpu_mhz));
	assert_int_equal(f->memory_free, left_of(capacity.memory_mb, use.used.memory_mb));
	assert_int_equal(f->disk_free, left_of(capacity.disk_mb, use.used.disk_mb));
}

static void look_into_mirror(
	struct world *w, struct fleet_mirror *mirror, enum placement_algorithm algorithm)
{
	struct fleet *fleet = fleet_mirror_fleet(mirror);

	state_read_begin();
	fleet_begin_view(fleet);
	const struct fit_index *x = fleet_index(fleet, algorithm)->fit;
	for (uint32_t slot = 0; slot < state_node_slots(w->controller.state); slot++)
		assert_mirrored(w, x, slot);
	state_read_end();
}

// As many changes as the feed holds: a reader that has not read them is too far behind.
static void flood_feed(struct world *w)
{
	struct node_feed *feed = &w->controller.state->node_feed;

	for (uint32_t i = 0; i <= feed->room; i++)
		node_feed_note(feed, 0);
}

// Two mirrors, one of which is always further behind than the feed of changes reaches.
static void a_mirror_shows_what_is_published(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	open_world(w, PLACEMENT_BINPACK, NULL, 0);
	struct fleet_mirror *often = fleet_mirror_create(w->controller.state, NULL),
			    *seldom = fleet_mirror_create(w->controller.state, NULL);
	look_into_mirror(w, often, PLACEMENT_SPREAD);
	for (uint32_t i = 1; i <= NODES; i++)
		register_node(w, i);
	controller_job(&w->controller, build_device_job("a", asks, gpus, 3));
	for (uint32_t i = 0; i < 12000; i++) {
		step(w, "a");
		if (below(w, 50) == 0)
			look_into_mirror(w, often, (enum placement_algorithm)below(w, 2));
		if (i % 4000 == 0) {
			flood_feed(w);
			look_into_mirror(w, seldom, PLACEMENT_BINPACK);
		}
	}
	fleet_mirror_destroy(often);
	fleet_mirror_destroy(seldom);
	close_world(w);
	free(w);
}

// A view that goes on does not move, whatever is published meanwhile.
static void an_index_stays_as_it_is_until_the_next_view(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	open_world(w, PLACEMENT_BINPACK, NULL, 0);
	struct fleet_mirror *mirror = fleet_mirror_create(w->controller.state, NULL);
	struct fleet *fleet = fleet_mirror_fleet(mirror);
	register_node(w, 1);
	look_into_mirror(w, mirror, PLACEMENT_BINPACK);
	register_node(w, 2);
	assert_int_equal(fit_index_nodes(fleet_index(fleet, PLACEMENT_BINPACK)->fit), 1);
	look_into_mirror(w, mirror, PLACEMENT_BINPACK);
	assert_int_equal(fit_index_nodes(fleet_index(fleet, PLACEMENT_BINPACK)->fit), 2);
	fleet_mirror_destroy(mirror);
	close_world(w);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_as_the_naive_scan_binpack),
		cmocka_unit_test(chooses_as_the_naive_scan_spread),
		cmocka_unit_test(goes_on_after_a_restart),
		cmocka_unit_test(a_refusal_says_why),
		cmocka_unit_test(a_mirror_shows_what_is_published),
		cmocka_unit_test(an_index_stays_as_it_is_until_the_next_view),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
