// What the fleet does when its device has no room, and when a controller gives its nodes times to come again.
#include "state/base/time_units.h"
#include "tools/fleet/fleet_step.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define CROWD 300u

// A device with room for so many frames, which answers nothing by itself.
struct narrow_device {
	struct transport transport; // first
	uint32_t room, sent;
	struct wire_header headers[2 * CROWD];
	struct frame answers[2 * CROWD];
	uint32_t answer_count;
};

static struct narrow_device device;
static struct manual_time clock_of_test;
static struct time_source source;
static struct fleet crowd;
static const struct master_keys masters = {.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
static const struct shapes crowd_shapes = {.seed = 3,
	.count = 1,
	.list = {{.class_name = "c", .weight = 1, .cpu_mhz = 1, .memory_mb = 1}},
	.datacenter_count = 1,
	.datacenters = {"dc1"},
	.name_prefix = "n-"};

static uint32_t device_send(
	struct transport *t, uint32_t lane, struct frame *frames, uint32_t count)
{
	struct narrow_device *d = (struct narrow_device *)t;
	uint32_t taken = count < d->room ? count : d->room;
	for (uint32_t i = 0; i < taken; i++) {
		assert_true(d->sent < 2 * CROWD);
		assert_int_equal(
			wire_header_decode(frames[i].data, frames[i].size, &d->headers[d->sent++]),
			WIRE_OK);
	}
	d->room -= taken;
	return taken;
}

static uint32_t device_receive(struct transport *t, struct frame *frames, uint32_t count)
{
	struct narrow_device *d = (struct narrow_device *)t;
	uint32_t given = count < d->answer_count ? count : d->answer_count;
	for (uint32_t i = 0; i < given; i++)
		frames[i] = d->answers[--d->answer_count];
	return given;
}

static int crowd_up(void **unused)
{
	char message[200];
	struct fleet_settings crowd_settings = {.nodes = CROWD, .key_id = 1, .seed = 5};
	clock_of_test = (struct manual_time){.monotonic_ns = NS_PER_S, .wall_ns = 1ull << 60};
	source = time_source_manual(&clock_of_test);
	device = (struct narrow_device){.transport = {.lanes = 2,
						.may_be_full = true,
						.send = device_send,
						.receive = device_receive}};
	return fleet_create(&crowd, &crowd_settings, &crowd_shapes, &masters, &source,
		&device.transport, message, sizeof message);
}

static int crowd_down(void **unused)
{
	return fleet_destroy(&crowd);
}

static void frames_wait_for_room(void **unused)
{
	for (uint32_t i = 0; i < 10; i++)
		fleet_step(&crowd);
	assert_int_equal(device.sent, 0);
	assert_true(crowd.counters.registrations >= BURST_MAX);
	assert_true(crowd.counters.registrations <= 2 * LANE_FRAMES);
	// Bit by bit, and no node registers twice.
	for (uint32_t i = 0; i < 40; i++) {
		device.room = 10;
		fleet_step(&crowd);
	}
	assert_int_equal(device.sent, CROWD);
	assert_int_equal(crowd.counters.registrations, CROWD);
	assert_int_equal(crowd.counters.send_dropped, 0);
	for (uint32_t i = 0; i < CROWD; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_true(device.headers[i].sequence != device.headers[j].sequence);
}

static void what_a_socket_leaves_is_lost(void **unused)
{
	device.transport.may_be_full = false;
	for (uint32_t i = 0; i < 10; i++)
		fleet_step(&crowd);
	assert_int_equal(crowd.counters.registrations, CROWD);
	assert_int_equal(crowd.counters.send_dropped, CROWD);
	device.room = CROWD;
	fleet_step(&crowd);
	assert_int_equal(device.sent, 0);
}

static void refuse_all(uint32_t retry_after_ms)
{
	for (uint32_t i = 0; i < device.sent; i++) {
		struct wire_header header = device.headers[i];
		uint32_t node = crowd.register_nodes[header.sequence & crowd.register_mask];
		struct wire_refused refused = {.request_type = WIRE_REGISTER,
			.reason = WIRE_REFUSED_OVERLOADED,
			.retry_after_ms = retry_after_ms};
		struct frame *answer = &device.answers[device.answer_count++];
		answer->size =
			wire_refused_encode(answer->data, sizeof answer->data, header, &refused);
		wire_sign(&crowd.nodes[node].session.key, answer->data, answer->size);
	}
	device.sent = 0;
}

static void turn_for_ms(uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++) {
		manual_time_advance_ms(&clock_of_test, 1);
		device.room = 2 * CROWD;
		fleet_step(&crowd);
	}
}

// However often it is refused: a node comes when it was told to, and not long after that.
static void appointments_are_kept(void **unused)
{
	turn_for_ms(20);
	for (uint32_t round = 0; round < 8; round++) {
		assert_int_equal(device.sent, CROWD);
		refuse_all(2000);
		turn_for_ms(1999);
		assert_int_equal(device.sent, 0);
		turn_for_ms(250 + 100 + 30); // an eighth, and how finely the fleet looks
	}
	assert_int_equal(crowd.counters.refused[WIRE_REFUSED_OVERLOADED], 8 * CROWD);
}

#define WITH_CROWD(t) cmocka_unit_test_setup_teardown(t, crowd_up, crowd_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CROWD(frames_wait_for_room),
		WITH_CROWD(what_a_socket_leaves_is_lost),
		WITH_CROWD(appointments_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
