// The whole packet path on real threads: a capture is read through DPDK, every packet is counted
// where it belongs, and the end is noticed. Waits for conditions, never for a time.
#include "dataplane/dataplane.h"
#include "dataplane/port/port_lock.h"
#include "state/base/memory.h"
#include "tests/dataplane/hot/packets.h"
#include "tests/support/core/core.h"
#include "tests/support/first_fit.h"
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 50u
#define ROUNDS 40u
#define BAD_TAGS 7u
#define REPLAYS 5u
#define OTHER_PORT 3u
#define STALE 2u
#define PACKETS (NODES * ROUNDS + BAD_TAGS + REPLAYS + OTHER_PORT + STALE)
#define PATIENCE_MS 20000u

static struct master_keys keys = {.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
static struct core core;
static char capture[] = "/tmp/berth-dataplane-test-XXXXXX";

static struct uuid node_id(uint32_t number)
{
	return (struct uuid){{0xcc, [14] = (uint8_t)(number >> 8), [15] = (uint8_t)number}};
}

static void ignore(struct command *c)
{
}

static void register_node(uint32_t number)
{
	static struct node_registration r;
	r = (struct node_registration){.node = node_id(number),
		.sequence = 1,
		.parts = 1,
		.total = {1000, 1000, 1000},
		.name = TEXT("n"),
		.datacenter = TEXT("dc1"),
		.pool = TEXT("default")};
	struct command c = {.type = COMMAND_NODE_REGISTER, .node_register = &r, .done = ignore};
	assert_true(command_queue_push(core.queue, 0, &c));
	assert_int_equal(applier_step(core.applier), 1);
	assert_int_equal(c.outcome, OUTCOME_DONE);
	assert_int_equal(r.slot, number);
	assert_int_equal(r.generation, 1);
}

static void put_u32(FILE *f, uint32_t v)
{
	assert_int_equal(fwrite(&v, sizeof v, 1, f), 1);
}

static void put_packet(FILE *f, const uint8_t *data, uint32_t size)
{
	put_u32(f, 0);
	put_u32(f, 0);
	put_u32(f, size);
	put_u32(f, size);
	assert_int_equal(fwrite(data, size, 1, f), 1);
}

struct kind {
	uint64_t sequence;
	uint64_t term_ahead;
	bool bad_tag;
	uint16_t port;
};

static void put_heartbeat(FILE *f, uint32_t number, struct kind kind)
{
	uint8_t frame[FRAME_BYTES_MAX], packet[PACKET_BYTES_MAX];
	struct uuid id = node_id(number);
	struct wire_key key;
	struct wire_header header = {.type = WIRE_HEARTBEAT,
		.key_id = 1,
		.slot = number,
		.generation = 1,
		.sequence = kind.sequence};
	struct wire_heartbeat beat = {.term = state_node_table(core.state)->term + kind.term_ahead};
	struct route route = route_from(number + 1, number % 2 == 1, number % 3 == 1);
	uint32_t bytes = wire_heartbeat_encode(frame, sizeof frame, header, &beat);
	assert_true(node_key_derive(&keys, 1, &id, &key));
	key.k[0] ^= kind.bad_tag;
	wire_sign(&key, frame, bytes);
	if (kind.port != 0)
		route.port = kind.port;
	put_packet(f, packet, udp_build(&route, frame, bytes, packet));
}

static void write_capture(void)
{
	int fd = mkstemp(capture);
	FILE *f = fdopen(fd, "w");
	assert_non_null(f);
	const uint32_t head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	assert_int_equal(fwrite(head, sizeof head, 1, f), 1);
	for (uint64_t round = 1; round <= ROUNDS; round++)
		for (uint32_t n = 0; n < NODES; n++)
			put_heartbeat(f, n, (struct kind){.sequence = round});
	for (uint32_t i = 0; i < BAD_TAGS; i++)
		put_heartbeat(f, i, (struct kind){.sequence = ROUNDS + 1, .bad_tag = true});
	for (uint32_t i = 0; i < REPLAYS; i++)
		put_heartbeat(f, i, (struct kind){.sequence = ROUNDS});
	for (uint32_t i = 0; i < OTHER_PORT; i++)
		put_heartbeat(f, i, (struct kind){.sequence = ROUNDS + 1, .port = 4000});
	for (uint32_t i = 0; i < STALE; i++)
		put_heartbeat(f, i, (struct kind){.sequence = ROUNDS + 1, .term_ahead = 1});
	assert_int_equal(fclose(f), 0);
}

static int prepare(void **unused)
{
	core_create(&core, (struct state_limits){.nodes = 1000}, 1);
	core_appoint(&core, (struct applier_settings){.placer = first_fit_placer(core.state),
				    .seed = 1,
				    .collect_after_ms = 1000000});
	assert_int_equal(core_open(&core), 0);
	for (uint32_t n = 0; n < NODES; n++)
		register_node(n);
	write_capture();
	core_start(&core, -1);
	return 0;
}

static int clean_up(void **unused)
{
	if (core.is_running)
		core_stop(&core, 1000);
	core_destroy(&core);
	return unlink(capture);
}

static struct dataplane_settings settings_for(const char *device)
{
	struct dataplane_settings s = {.port_count = 1,
		.udp_port = TEST_PORT,
		.ttl_ms = 600000,
		.restart_grace_ms = 1000,
		.stall_ms = 600000, // a busy machine is none that stands still
		.idle_sleep_us = 400,
		.huge = "no"};
	snprintf(s.ports[0].device, sizeof s.ports[0].device, "%s", device);
	s.ports[0].queues = 1;
	s.ports[0].address_count = 2;
	struct hot_port ours = test_port();
	snprintf(s.ports[0].addresses[0], sizeof s.ports[0].addresses[0], "%u.%u.%u.%u",
		ours.ipv4[0][0], ours.ipv4[0][1], ours.ipv4[0][2], ours.ipv4[0][3]);
	snprintf(s.ports[0].addresses[1], sizeof s.ports[0].addresses[1], "fd00::ab:cdef");
	return s;
}

static struct topology_plan plan_for(void)
{
	int cpu = sched_getcpu();
	return (struct topology_plan){
		.worker_count = 1, .workers = {{.cpu = cpu}}, .applier_cpu = cpu, .main_cpu = cpu};
}

static void device_that_is_not_there(void **unused)
{
	struct dataplane_settings s = settings_for("nosuch0");
	struct topology_plan plan = plan_for();
	struct dataplane *d = NULL;
	char message[256] = "";
	assert_true(dataplane_create(&s, &plan, &d, message, sizeof message) < 0);
	assert_non_null(strstr(message, "no interface \"nosuch0\""));
	assert_null(d);
}

static void expect_refusal_of(const struct dataplane_settings *s, int error, const char *says)
{
	struct topology_plan plan = plan_for();
	struct dataplane *d = NULL;
	char message[512] = "";
	plan.worker_count = s->port_count;
	for (uint32_t i = 1; i < s->port_count; i++)
		plan.workers[i] = plan.workers[0];
	assert_int_equal(dataplane_create(s, &plan, &d, message, sizeof message), error);
	if (strstr(message, says) == NULL)
		fail_msg("%s", message);
	assert_null(d);
}

static void settings_that_contradict_themselves(void **unused)
{
	struct dataplane_settings s = settings_for("lo");
	s.port_count = 2;
	s.ports[1] = s.ports[0];
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "af_packet");
	snprintf(s.ports[1].io, sizeof s.ports[1].io, "af_xdp");
	expect_refusal_of(&s, -EEXIST, "ports 0 and 1 are both device net_af_xdp1");
	s.port_count = 1;
	s.starts_as_follower = true;
	snprintf(s.own_address, sizeof s.own_address, "10.0.0.1/8");
	expect_refusal_of(&s, -EINVAL, "\"10.0.0.1/8\" cannot be the controller's own address");
	s.own_address[0] = '\0';
	snprintf(s.ports[0].addresses[1], sizeof s.ports[0].addresses[1], "somewhere");
	expect_refusal_of(&s, -EINVAL, "\"somewhere\" is no address for a port");
	dataplane_destroy(NULL);
}

// Another daemon has the interface: no device is touched. Who may not lock goes on without.
static void a_queue_of_another_daemon(void **unused)
{
	struct dataplane_settings s = settings_for("lo");
	struct device device = {.interface = "lo", .name = "net_af_packet0"};
	struct port_lock lock;
	char message[512] = "";
	snprintf(s.ports[0].io, sizeof s.ports[0].io, "af_packet");
	assert_int_equal(
		port_lock_take(&lock, PORT_LOCK_DIRECTORY, &device, 0, 0, message, sizeof message),
		0);
	if (lock.fd < 0)
		skip();
	expect_refusal_of(&s, -EBUSY, "is in use by another berthd");
	port_lock_release(&lock);
}

static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	nanosleep(&ms, NULL);
}

static uint64_t refused(const struct hot_counters *c, enum hot_refusal reason)
{
	return atomic_load(&c->refused[reason]);
}

static void check_counters(const struct hot_counters *c)
{
	assert_int_equal(atomic_load(&c->received), PACKETS);
	assert_int_equal(atomic_load(&c->heartbeats), NODES * ROUNDS);
	assert_int_equal(refused(c, HOT_REFUSED_BAD_TAG), BAD_TAGS);
	assert_int_equal(refused(c, HOT_REFUSED_REPLAY), REPLAYS);
	assert_int_equal(refused(c, HOT_REFUSED_NOT_OURS_PORT), OTHER_PORT);
	assert_int_equal(refused(c, HOT_REFUSED_STALE_TERM), STALE);
	assert_int_equal(atomic_load(&c->replies), NODES * ROUNDS + STALE);
	uint64_t judged = atomic_load(&c->heartbeats);
	for (int r = 0; r < HOT_REFUSED_KINDS; r++)
		judged += refused(c, (enum hot_refusal)r);
	assert_int_equal(judged, PACKETS);
}

// The capture's packets go to another MAC address than the device's, and are accepted all the same.
static void capture_is_replayed(void **unused)
{
	char device[128], message[256] = "";
	snprintf(device, sizeof device, "net_pcap0,rx_pcap=%s", capture);
	struct dataplane_settings s = settings_for(device);
	struct topology_plan plan = plan_for();
	struct dataplane *d = NULL;
	if (dataplane_create(&s, &plan, &d, message, sizeof message) != 0)
		fail_msg("%s", message);
	assert_int_equal(dataplane_workers(d), 1);
	assert_int_equal(dataplane_ports(d), 1);
	assert_int_equal(dataplane_start(d, core.state, core.queue, &keys, &time_source_real), 0);
	const struct hot_counters *counters = dataplane_counters(d, 0);
	for (uint32_t ms = 0; ms < PATIENCE_MS && atomic_load(&counters->received) < PACKETS; ms++)
		nap();
	for (uint32_t ms = 0; ms < 300; ms++) // nothing comes after the last
		nap();
	assert_true(dataplane_alive(d, &time_source_real));
	check_counters(counters);
	dataplane_set_leader_address(d, "the leader:4647"); // is not known, that is
	dataplane_refuse(d);
	core_stop(&core, 1000);
	dataplane_stop(d);
	struct dataplane_port_counters port;
	dataplane_port_counters(d, 0, &port);
	assert_int_equal(port.received, PACKETS);
	assert_string_equal(port.name, "net_pcap0");
	assert_string_equal(port.driver, "net_pcap");
	dataplane_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_that_is_not_there),
		cmocka_unit_test(settings_that_contradict_themselves),
		cmocka_unit_test(a_queue_of_another_daemon),
		cmocka_unit_test(capture_is_replayed),
	};
	return cmocka_run_group_tests(tests, prepare, clean_up);
}
