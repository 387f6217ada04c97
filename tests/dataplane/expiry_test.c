// When much falls silent at once: which expiry is held, when it goes on, and that the death of a rack is none of it.
#include "dataplane/expiry.h"
#include "tests/dataplane/world.h"
#include <stdlib.h>

#define NODES_MOST 400u
#define BEAT_MS 3000u
#define STEP_MS 500u

struct fleet {
	struct world *world;
	struct peer peers[NODES_MOST];
	uint32_t count;
	uint64_t sequence;
	uint32_t beating_from, beating_to; // these nodes beat
	uint32_t passed_ms, expired;
};

static struct fleet *fleet_of(uint32_t nodes)
{
	struct fleet *f = calloc(1, sizeof *f);
	assert_non_null(f);
	f->world = world_create(1);
	f->world->team->settings.mass_percent = 20;
	f->count = f->beating_to = nodes;
	for (uint32_t i = 0; i < nodes; i++)
		f->peers[i] = world_node(f->world, i, 1, 0, 0);
	return f;
}

static void fleet_free(struct fleet *f)
{
	world_is_quiet(f->world);
	world_balances(f->world);
	world_destroy(f->world);
	free(f);
}

static void nodes_beat(struct fleet *f)
{
	static uint8_t answer[PACKET_BYTES_MAX];
	f->sequence++;
	for (uint32_t i = f->beating_from; i < f->beating_to; i++)
		send_heartbeat(f->world, &f->peers[i], i, 1, f->sequence);
	for (uint32_t i = 0; i <= f->count / BURST_MAX; i++)
		world_turn(f->world, 0);
	while (memory_wire_get(f->world->wires[0], answer, sizeof answer) > 0)
		continue;
}

// Finishes what the workers report; counts the expired.
static void take_reports(struct fleet *f)
{
	struct command *c;
	while (command_queue_take(f->world->core.queue, &c, 1) == 1) {
		f->expired += c->type == COMMAND_NODE_EXPIRED;
		world_finish(c, OUTCOME_DONE);
	}
}

// Returns how many nodes expired meanwhile.
static uint32_t fleet_pass(struct fleet *f, uint32_t ms)
{
	uint32_t before = f->expired;
	for (uint32_t passed = 0; passed < ms; passed += STEP_MS) {
		if (f->passed_ms % BEAT_MS == 0)
			nodes_beat(f);
		world_pass(f->world, STEP_MS);
		take_reports(f);
		f->passed_ms += STEP_MS;
	}
	return f->expired - before;
}

static struct expiry_status status_of(const struct fleet *f)
{
	return expiry_status(f->world->team);
}

static void a_rack_that_dies_expires_as_ever(void **state)
{
	struct fleet *f = fleet_of(300);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_from = 60; // a fifth and no more
	assert_int_equal(fleet_pass(f, WORLD_TTL_MS + BEAT_MS), 60);
	assert_int_equal(status_of(f).holds, 0);
	assert_int_equal(fleet_pass(f, 3 * WORLD_TTL_MS), 0);
	fleet_free(f);
}

static void few_nodes_are_never_a_mass(void **state)
{
	struct fleet *f = fleet_of(60);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_from = HOLD_MASS_NODES_MIN - 1;
	assert_int_equal(fleet_pass(f, WORLD_TTL_MS + BEAT_MS), HOLD_MASS_NODES_MIN - 1);
	assert_int_equal(status_of(f).holds, 0);
	fleet_free(f);
}

static void a_mass_is_held_until_it_beats_again(void **state)
{
	struct fleet *f = fleet_of(300);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_from = 61;
	assert_int_equal(fleet_pass(f, 4 * WORLD_TTL_MS), 0);
	struct expiry_status status = status_of(f);
	assert_int_equal(status.state, HOLD_HELD);
	assert_int_equal(status.causes, HOLD_MASS);
	assert_int_equal(status.silent, 61);
	assert_int_equal(status.nodes, 300);
	assert_int_equal(status.holds, 1);
	f->beating_from = 0;
	assert_int_equal(fleet_pass(f, 2 * WORLD_TTL_MS), 0);
	assert_int_equal(status_of(f).state, HOLD_NONE);
	f->beating_from = 1; // and as ever from here on
	assert_int_equal(fleet_pass(f, WORLD_TTL_MS + BEAT_MS), 1);
	fleet_free(f);
}

// Nodes that fall silent one rack after the other, within one time to live, are a mass, too.
static void racks_that_follow_each_other_are_a_mass(void **state)
{
	struct fleet *f = fleet_of(300);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_from = 60;
	assert_int_equal(fleet_pass(f, BEAT_MS + STEP_MS), 0);
	f->beating_from = 120;
	assert_true(fleet_pass(f, 3 * WORLD_TTL_MS) <= 60);
	assert_int_equal(status_of(f).state, HOLD_HELD);
	f->beating_from = 0;
	fleet_pass(f, 3 * WORLD_TTL_MS);
	fleet_free(f);
}

static void a_hold_ends_at_a_bounded_rate(void **state)
{
	struct fleet *f = fleet_of(300);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_from = 150;
	assert_int_equal(fleet_pass(f, WORLD_HOLD_S * 1000), 0);
	fleet_pass(f, WORLD_TTL_MS); // it had begun within one
	assert_int_equal(status_of(f).state, HOLD_DRAINING);
	uint32_t some = fleet_pass(f, 2000);
	assert_in_range(some, HOLD_DRAIN_NODES_MIN, 3 * HOLD_DRAIN_NODES_MIN);
	fleet_pass(f, 20000);
	assert_int_equal(f->expired, 150);
	fleet_pass(f, 3 * WORLD_TTL_MS);
	assert_int_equal(status_of(f).state, HOLD_NONE);
	fleet_free(f);
}

static void an_operator_ends_a_hold_at_once(void **state)
{
	struct fleet *f = fleet_of(300);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	expiry_release(f->world->team); // nothing is held, so this is about nothing
	f->beating_from = 150;
	assert_int_equal(fleet_pass(f, 2 * WORLD_TTL_MS), 0);
	expiry_release(f->world->team);
	assert_int_equal(fleet_pass(f, 1000), 150);
	assert_int_equal(status_of(f).state, HOLD_RELEASED);
	fleet_pass(f, 3 * WORLD_TTL_MS);
	assert_int_equal(status_of(f).state, HOLD_NONE);
	fleet_free(f);
}

static void a_link_that_is_down_expires_nobody(void **state)
{
	struct fleet *f = fleet_of(7);
	f->world->team->settings.mass_percent = 100;
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_to = 0;
	f->world->signs.link_down = true;
	assert_int_equal(fleet_pass(f, 4 * WORLD_TTL_MS), 0);
	assert_int_equal(status_of(f).causes, HOLD_LINK_DOWN);
	f->world->signs.link_down = false;
	assert_int_equal(fleet_pass(f, WORLD_TTL_MS - BEAT_MS), 0); // they have a moment to say so
	f->beating_to = 6;
	assert_int_equal(fleet_pass(f, 2 * WORLD_TTL_MS), 1);
	assert_int_equal(status_of(f).state, HOLD_NONE);
	fleet_free(f);
}

// A switch behind the link that is gone: no carrier is lost, and the fleet is too small for a mass.
static void a_port_that_hears_nobody_expires_nobody(void **state)
{
	struct fleet *f = fleet_of(7);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_to = 3;
	fleet_pass(f, BEAT_MS); // not all at the same moment
	f->beating_to = 0;
	assert_int_equal(fleet_pass(f, 4 * WORLD_TTL_MS), 0);
	assert_int_equal(status_of(f).causes, HOLD_PORT_SILENT);
	f->beating_to = 7;
	assert_int_equal(fleet_pass(f, 2 * WORLD_TTL_MS), 0);
	assert_int_equal(status_of(f).state, HOLD_NONE);
	fleet_free(f);
}

static void an_empty_port_holds_nothing(void **state)
{
	struct fleet *f = fleet_of(0);
	f->world->signs.link_down = true;
	fleet_pass(f, 4 * WORLD_TTL_MS);
	assert_int_equal(status_of(f).holds, 0);
	fleet_free(f);
}

// Nobody knows how long it takes to get it back, and until then the silence is our own.
static void a_lost_program_holds_without_an_end(void **state)
{
	struct fleet *f = fleet_of(7);
	fleet_pass(f, 2 * WORLD_TTL_MS);
	f->beating_to = 0;
	f->world->signs.program_lost = true;
	assert_int_equal(fleet_pass(f, 3 * WORLD_HOLD_S * 1000), 0);
	assert_true(status_of(f).causes & HOLD_PROGRAM_LOST);
	expiry_release(f->world->team);
	assert_int_equal(fleet_pass(f, 1000), 7);
	fleet_free(f);
}

// Links of two ports: what is held is what the dead one owns.
static void a_port_holds_its_own_nodes(void **state)
{
	struct world *w = world_create(2);
	struct port_signs signs = {0};
	w->team->items[1].signs = &signs;
	world_node(w, 0, 1, 0, 0);
	world_node(w, NODE_BLOCK_SLOTS, 1, 1, 1);
	signs.link_down = true;
	world_pass(w, WORLD_TTL_MS + 1000);
	struct command *c = world_command(w, COMMAND_NODE_EXPIRED);
	assert_int_equal(c->node.slot, 0);
	world_finish(c, OUTCOME_DONE);
	world_no_command(w);
	world_is_quiet(w);
	world_destroy(w);
}

// Nodes that were down and come back through another worker were not silent nodes.
static void a_mass_that_returns_is_no_mass(void **state)
{
	struct world *w = world_create(2);
	enum { COUNT = 100 };
	struct peer peers[COUNT];
	struct fleet f = {.world = w};
	for (uint32_t i = 0; i < COUNT; i++)
		peers[i] = world_node(w, i, 1, 0, 0);
	fleet_pass(&f, 2 * WORLD_TTL_MS);
	assert_int_equal(f.expired, COUNT);
	fleet_pass(&f, 2 * WORLD_TTL_MS);
	w->team->settings.mass_percent = 20;
	for (uint32_t i = 0; i < COUNT; i++) {
		peers[i].wire = 1;
		send_heartbeat(w, &peers[i], i, 1, 1);
	}
	fleet_pass(&f, 1000);
	assert_int_equal(expiry_status(w->team).holds, 0);
	world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rack_that_dies_expires_as_ever),
		cmocka_unit_test(few_nodes_are_never_a_mass),
		cmocka_unit_test(a_mass_is_held_until_it_beats_again),
		cmocka_unit_test(racks_that_follow_each_other_are_a_mass),
		cmocka_unit_test(a_hold_ends_at_a_bounded_rate),
		cmocka_unit_test(an_operator_ends_a_hold_at_once),
		cmocka_unit_test(a_link_that_is_down_expires_nobody),
		cmocka_unit_test(a_port_that_hears_nobody_expires_nobody),
		cmocka_unit_test(an_empty_port_holds_nothing),
		cmocka_unit_test(a_lost_program_holds_without_an_end),
		cmocka_unit_test(a_port_holds_its_own_nodes),
		cmocka_unit_test(a_mass_that_returns_is_no_mass),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
