// Claims against a plain list of them: what each claimant sees of the others, what the index of a fleet makes of it,
// and what is told when claims are given back.
#include "placement/direct/claims.h"
#include "placement/direct/fleet_mirror.h"
#include "placement/direct/placement.h"
#include "state/records/alloc_details.h"
#include "tests/support/controller.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 40, CLAIMANTS = 3, CLAIMS_MOST = 20000, STEPS = 20000 };

static const struct resources ask = {10, 16, 20};

struct naive_claim {
	uint32_t of, slot;
	struct resources resources;
	struct device_set devices;
	bool has_details, is_published;
};

struct world {
	struct controller controller;
	struct placement *placement;
	struct prng prng;
	uint64_t request;
	struct claims *claims;
	struct claimant *claimants[CLAIMANTS];
	struct fleet_mirror *mirror;
	struct naive_claim *list;
	uint32_t count;
	uint32_t told[NODES + 1];
};

static uint32_t below(struct world *w, uint32_t bound)
{
	return (uint32_t)prng_below(&w->prng, bound);
}

static void open_world(struct world *w)
{
	prng_seed(&w->prng, 7);
	controller_init(&w->controller, (struct state_limits){.nodes = 8192});
	w->placement = placement_create(w->controller.state, PLACEMENT_BINPACK);
	w->controller.placer = placement_placer(w->placement);
	controller_open(&w->controller);
	for (uint32_t i = 0; i < NODES; i++) {
		struct node_registration r;
		build_node(&r, i + 1, ++w->request + (uint64_t)CONTROLLER_WALL_MS);
		assert_int_equal(core_join(&w->controller.core, &r), OUTCOME_DONE);
		assert_in_range(r.slot, 0, NODES);
	}
	controller_job(&w->controller, build_job("a", &ask, 1));
	w->claims = claims_create(w->controller.state);
	for (uint32_t i = 0; i < CLAIMANTS; i++)
		w->claimants[i] = claimant_create(w->claims);
	w->mirror = fleet_mirror_create(w->controller.state, w->claims);
	w->list = calloc(CLAIMS_MOST, sizeof *w->list);
}

static void close_world(struct world *w)
{
	free(w->list);
	fleet_mirror_destroy(w->mirror);
	for (uint32_t i = 0; i < CLAIMANTS; i++)
		claimant_destroy(w->claimants[i]);
	claims_destroy(w->claims);
	controller_free(&w->controller);
	placement_destroy(w->placement);
}

static struct alloc_details *details_with_port(void)
{
	struct alloc_details *details = alloc_details_create();
	(void)array_append(&details->ports, sizeof(struct allocated_port));
	return details;
}

static struct claim_ask any_ask(struct world *w, struct device_set *devices)
{
	*devices = (struct device_set){.groups = {below(w, 4)}};
	return (struct claim_ask){.slot = below(w, NODES),
		.resources = {below(w, 100), below(w, 100), below(w, 100)},
		.devices = devices};
}

static void note_claim(struct world *w, uint32_t of, const struct claim_ask *a, bool has_details)
{
	assert_in_range(w->count, 0, CLAIMS_MOST - 1);
	w->list[w->count++] = (struct naive_claim){.of = of,
		.slot = a->slot,
		.resources = a->resources,
		.devices = *a->devices,
		.has_details = has_details};
}

static void take(struct world *w)
{
	uint32_t of = below(w, CLAIMANTS);
	struct device_set devices;
	struct claim_ask a = any_ask(w, &devices);
	struct alloc_details *details = below(w, 2) ? details_with_port() : NULL;

	a.details = details;
	a.seen = claimant_look(w->claimants[of], a.slot);
	assert_true(claimant_take(w->claimants[of], &a));
	alloc_details_release(details);
	note_claim(w, of, &a, details != NULL);
}

// Two looked at the same node: the second one has to look again.
static void take_twice(struct world *w)
{
	struct device_set devices;
	struct claim_ask a = any_ask(w, &devices);

	a.seen = claimant_look(w->claimants[1], a.slot);
	assert_true(claimant_take(w->claimants[0], &a));
	note_claim(w, 0, &a, false);
	assert_false(claimant_take(w->claimants[1], &a));
	a.seen = claimant_look(w->claimants[1], a.slot);
	assert_true(claimant_take(w->claimants[1], &a));
	note_claim(w, 1, &a, false);
}

// A claim's allocation is published: from then on the node's use holds it.
static void publish(struct world *w)
{
	uint32_t of = below(w, CLAIMANTS);
	struct device_set devices;
	struct claim_ask a = any_ask(w, &devices);
	struct command_place p = {.client = TEXT("c"),
		.issued_ms = controller_now_ms(&w->controller),
		.request = ++w->request,
		.count = 1,
		.namespace_name = TEXT("default"),
		.job = TEXT("a"),
		.group = TEXT("g0")};
	struct command command = {.type = COMMAND_PLACE, .place = &p};

	a.seen = claimant_look(w->claimants[of], a.slot);
	assert_true(claimant_take(w->claimants[of], &a));
	note_claim(w, of, &a, false);
	if (controller_run(&w->controller, &command) != OUTCOME_DONE)
		return;
	claimant_name(w->claimants[of], &p.items[0].allocation);
	w->list[w->count - 1].is_published = true;
}

static void tell(void *context, uint32_t slot)
{
	struct world *w = context;
	w->told[slot]++;
}

static void release(struct world *w)
{
	uint32_t of = below(w, CLAIMANTS), kept = 0, dropped = 0;
	uint32_t expected[NODES + 1] = {0};
	uint64_t before = claims_dropped(w->claims);

	memset(w->told, 0, sizeof w->told);
	for (uint32_t i = 0; i < w->count; i++) {
		const struct naive_claim *c = &w->list[i];
		if (c->of != of)
			w->list[kept++] = *c;
		else if (!c->is_published)
			expected[c->slot]++, dropped++;
	}
	w->count = kept;
	assert_int_equal(claimant_release(w->claimants[of], tell, w), dropped);
	assert_memory_equal(w->told, expected, sizeof expected);
	assert_int_equal(claims_dropped(w->claims) - before, dropped);
}

static struct node_use naive_use(const struct world *w, uint32_t without, uint32_t slot)
{
	struct node_use use = state_node_use(w->controller.state, slot);

	for (uint32_t i = 0; i < w->count; i++) {
		const struct naive_claim *c = &w->list[i];
		if (c->slot != slot || c->of == without || c->is_published)
			continue;
		use.used = resources_plus(use.used, c->resources);
		use.machines = resources_plus(use.machines, c->resources);
		use.devices.groups[0] |= c->devices.groups[0];
		use.with_details += c->has_details;
		use.living++;
	}
	return use;
}

static void count_claim(
	const struct device_set *devices, const struct alloc_details *details, void *context)
{
	assert_non_null(devices);
	*(uint32_t *)context += details != NULL;
}

static void compare(struct world *w)
{
	uint32_t slot = below(w, NODES);

	state_read_begin();
	for (uint32_t i = 0; i <= CLAIMANTS; i++) {
		const struct claimant *without = i < CLAIMANTS ? w->claimants[i] : NULL;
		struct node_use use = state_node_use(w->controller.state, slot),
				expected = naive_use(w, i, slot);
		uint32_t with_details = use.with_details;
		claims_add(w->claims, without, slot, &use);
		assert_memory_equal(&use, &expected, sizeof use);
		if (!without)
			continue;
		claimant_walk_others(without, slot, count_claim, &with_details);
		assert_int_equal(with_details, expected.with_details);
	}
	state_read_end();
}

static uint32_t left(uint32_t capacity, uint32_t used)
{
	return capacity > used ? capacity - used : 0;
}

// The index of a view that begins now has all claims.
static void look_into_mirror(struct world *w)
{
	struct fleet *fleet = fleet_mirror_fleet(w->mirror);

	state_read_begin();
	fleet_begin_view(fleet);
	const struct fit_index *x = fleet_index(fleet, PLACEMENT_BINPACK)->fit;
	for (uint32_t slot = 0; slot < NODES; slot++) {
		const struct node *n = state_node_at(w->controller.state, slot);
		struct resources capacity = node_capacity(n);
		struct node_use use = naive_use(w, CLAIMANTS, slot);
		const struct fit_node *f = fit_index_node(x, slot);
		assert_int_equal(f->cpu_free, left(capacity.cpu_mhz, use.used.cpu_mhz));
		assert_int_equal(f->memory_free, left(capacity.memory_mb, use.used.memory_mb));
	}
	state_read_end();
}

static void claims_are_those_of_a_plain_list(void **state)
{
	struct world *w = calloc(1, sizeof *w);

	open_world(w);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t what = below(w, 100);
		if (what < 60)
			take(w);
		else if (what < 70)
			take_twice(w);
		else if (what < 80)
			publish(w);
		else if (what < 82)
			release(w);
		compare(w);
		if (below(w, 20) == 0)
			look_into_mirror(w);
	}
	close_world(w);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_are_those_of_a_plain_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
