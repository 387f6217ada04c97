#include "tests/tools/fleet/small_fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include <cmocka.h>

// That passes at once, however late this thread comes to look.
#define MOST_NS 20000000u
#define SLOWER 8u

struct responder *server;
struct transport *transport;
struct fleet fleet;
struct shapes shapes = {.seed = 3,
	.count = 1,
	.list = {{.class_name = "c", .weight = 1, .cpu_mhz = 1, .memory_mb = 1}},
	.datacenter_count = 1,
	.datacenters = {"dc1"},
	.attributes = 45,
	.name_prefix = "n-"};
struct fleet_settings settings = {.nodes = NODES, .key_id = 1, .register_rate = 20000, .seed = 5};
char fleet_message[300];
static uint64_t looked_ns, fleet_ns;

static uint64_t small_monotonic_ns(void *context)
{
	return fleet_ns;
}

static uint64_t small_wall_ns(void *context)
{
	return time_wall_ns(&time_source_real);
}

const struct time_source fleet_time = {
	.monotonic_ns = small_monotonic_ns, .wall_ns = small_wall_ns};

void fleet_turn(void)
{
	int waits = 0;

	if (fleet_step(&fleet) == 0)
		transport->wait(transport, 1000);
	uint64_t now_ns = time_monotonic_ns(&time_source_real), since_ns = now_ns - looked_ns;
	looked_ns = now_ns;
	if (since_ns > MOST_NS)
		since_ns = MOST_NS;
	// One that is dead is not behind.
	bool is_behind = ioctl(server->fd, FIONREAD, &waits) == 0 && waits > 0;
	fleet_ns += is_behind ? since_ns / SLOWER : since_ns;
}

int fleet_up(void **unused)
{
	server = responder_start();
	atomic_store(&server->rules.ttl_ms, 300);
	transport = transport_socket_open(
		server->address, NULL, 3, fleet_message, sizeof fleet_message);
	if (!transport)
		return -1;
	looked_ns = fleet_ns = time_monotonic_ns(&time_source_real);
	return fleet_create(&fleet, &settings, &shapes, &server->masters, &fleet_time, transport,
		fleet_message, sizeof fleet_message);
}

int fleet_down(void **unused)
{
	running_destroy(fleet.running);
	fleet_destroy(&fleet);
	transport->close(transport);
	responder_stop(server);
	settings.loss = settings.send_rate = 0;
	settings.pcap = NULL;
	settings.nodes = NODES;
	return 0;
}

void run_allocations(double run_for_s, double fail_share)
{
	struct running_settings running = {
		.run_for_s = run_for_s, .fail_share = fail_share, .start_delay_s = 0.05};
	fleet.running = running_create(&fleet, &running);
}

void turn_ms(uint32_t ms)
{
	uint32_t end = fleet_now_ms(&fleet) + ms;
	TURN_UNTIL(fleet_now_ms(&fleet) >= end);
}
