// A controller that follows and then leads, on real threads over a DPDK port: what went out is read from a capture.
#include "dataplane/dataplane.h"
#include "tests/dataplane/hot/packets.h"
#include "tests/support/core/core.h"
#include "tests/support/first_fit.h"
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

#define BEATS 5u // of one node to each address
#define PATIENCE_MS 20000u

static struct master_keys keys = {.count = 1, .keys = {{.id = 1, .bytes = {7}}}};
static struct core core;
static char folder[] = "/tmp/berth-takeover-test-XXXXXX", heard[64], sent[64];
static const struct uuid node = {{0xcc, 1}};

static void put_u32(FILE *f, uint32_t v)
{
	assert_int_equal(fwrite(&v, sizeof v, 1, f), 1);
}

static void put_heartbeat(FILE *f, const struct route *route, uint64_t sequence)
{
	uint8_t frame[FRAME_BYTES_MAX], packet[PACKET_BYTES_MAX];
	struct wire_key key;
	struct wire_header header = {
		.type = WIRE_HEARTBEAT, .key_id = 1, .generation = 1, .sequence = sequence};
	struct wire_heartbeat beat = {.term = state_node_table(core.state)->term};
	uint32_t bytes = wire_heartbeat_encode(frame, sizeof frame, header, &beat);
	assert_true(node_key_derive(&keys, 1, &node, &key));
	wire_sign(&key, frame, bytes);
	uint32_t size = udp_build(route, frame, bytes, packet);
	put_u32(f, 0);
	put_u32(f, 0);
	put_u32(f, size);
	put_u32(f, size);
	assert_int_equal(fwrite(packet, size, 1, f), 1);
}

// The node beats to the service address, which is the port's first, and to the second, which stays.
static void write_heard(void)
{
	FILE *f = fopen(heard, "w");
	assert_non_null(f);
	const uint32_t head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	assert_int_equal(fwrite(head, sizeof head, 1, f), 1);
	for (uint64_t i = 1; i <= BEATS; i++) {
		struct route route = route_from(1, false, false);
		put_heartbeat(f, &route, i);
		memcpy(route.ipv4, test_port().ipv4[1], 4);
		put_heartbeat(f, &route, BEATS + i);
	}
	assert_int_equal(fclose(f), 0);
}

static int prepare(void **unused)
{
	static struct node_registration r;
	r = (struct node_registration){.node = node,
		.sequence = 1,
		.parts = 1,
		.total = {1000, 1000, 1000},
		.name = TEXT("n"),
		.datacenter = TEXT("dc1"),
		.pool = TEXT("default")};
	core_create(&core, (struct state_limits){.nodes = 1000}, 1);
	core_appoint(&core, (struct applier_settings){.placer = first_fit_placer(core.state),
				    .seed = 1,
				    .collect_after_ms = 1000000});
	assert_int_equal(core_open(&core), 0);
	assert_int_equal(core_join(&core, &r), OUTCOME_DONE);
	assert_non_null(mkdtemp(folder));
	snprintf(heard, sizeof heard, "%s/heard", folder);
	snprintf(sent, sizeof sent, "%s/sent", folder);
	write_heard();
	core_start(&core, -1);
	return 0;
}

static int clean_up(void **unused)
{
	if (core.is_running)
		core_stop(&core, 1000);
	core_destroy(&core);
	unlink(heard);
	unlink(sent);
	return rmdir(folder);
}

static struct dataplane *start(void)
{
	char message[256] = "";
	int cpu = sched_getcpu();
	struct dataplane *d = NULL;
	struct topology_plan plan = {
		.worker_count = 1, .workers = {{.cpu = cpu}}, .applier_cpu = cpu, .main_cpu = cpu};
	struct dataplane_settings s = {.port_count = 1,
		.udp_port = TEST_PORT,
		.ttl_ms = 600000,
		.restart_grace_ms = 1000,
		.stall_ms = 600000, // a busy machine is none that stands still
		.idle_sleep_us = 400,
		.huge = "no",
		.starts_as_follower = true,
		.own_address = "192.168.7.9"};
	snprintf(s.ports[0].device, sizeof s.ports[0].device, "net_pcap0,rx_pcap=%s,tx_pcap=%s",
		heard, sent);
	s.ports[0].queues = s.ports[0].address_count = 1;
	snprintf(s.ports[0].addresses[0], sizeof s.ports[0].addresses[0], "10.1.0.1");
	if (dataplane_create(&s, &plan, &d, message, sizeof message) != 0)
		fail_msg("%s", message);
	dataplane_set_leader_address(d, "192.0.2.2:4647");
	assert_int_equal(dataplane_start(d, core.state, core.queue, &keys, &time_source_real), 0);
	return d;
}

static void wait_for(const _Atomic uint64_t *counter, uint64_t least)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	for (uint32_t i = 0; i < PATIENCE_MS && atomic_load(counter) < least; i++)
		nanosleep(&ms, NULL);
	assert_true(atomic_load(counter) >= least);
}

struct counts {
	uint32_t refusals, announcements, others;
};

static void count_packet(struct counts *c, const uint8_t *data, uint32_t size)
{
	const uint8_t *frame = data + 42;
	struct wire_header h;
	struct wire_refused refused;
	if (size == 60 && data[12] == 8 && data[13] == 6) {
		assert_memory_equal(data + 28, test_port().ipv4[0], 4);
		c->announcements++;
	} else if (size == 42 + WIRE_NOT_LEADER_BYTES &&
		   wire_header_decode(frame, size - 42, &h) == WIRE_OK && h.type == WIRE_REFUSED &&
		   wire_refused_decode(frame, &h, &refused)) {
		assert_int_equal(refused.reason, WIRE_REFUSED_NOT_LEADER);
		assert_int_equal(refused.leader.port, 4647);
		assert_int_equal(refused.leader.address[15], 2);
		c->refusals++;
	} else {
		c->others++;
	}
}

static struct counts read_sent(void)
{
	struct counts c = {0};
	uint32_t head[6], packet[4];
	uint8_t data[PACKET_BYTES_MAX];
	FILE *f = fopen(sent, "r");
	assert_non_null(f);
	assert_int_equal(fread(head, sizeof head, 1, f), 1);
	while (fread(packet, sizeof packet, 1, f) == 1) {
		assert_true(packet[2] <= sizeof data);
		assert_int_equal(fread(data, packet[2], 1, f), 1);
		count_packet(&c, data, packet[2]);
	}
	fclose(f);
	return c;
}

static void a_follower_takes_over(void **unused)
{
	struct dataplane *d = start();
	const struct hot_counters *c = dataplane_counters(d, 0);
	wait_for(&c->received, 2 * BEATS);
	wait_for(&c->refused[HOT_REFUSED_NOT_LEADER], BEATS);
	assert_int_equal(atomic_load(&c->refused[HOT_REFUSED_SERVICE]), BEATS);
	assert_int_equal(atomic_load(&c->heartbeats), 0);
	assert_true(dataplane_alive(d, &time_source_real));
	assert_int_equal(dataplane_lead(d), 0);
	assert_true(dataplane_lead(d) < 0); // once
	struct dataplane_port_counters port = {0};
	for (uint32_t ms = 0; ms < PATIENCE_MS && port.sent < BEATS + 5; ms++) {
		const struct timespec nap = {.tv_nsec = 1000000};
		nanosleep(&nap, NULL);
		dataplane_port_counters(d, 0, &port);
	}
	assert_int_equal(dataplane_expiry(d).nodes, 1); // has its grace
	assert_true(dataplane_alive(d, &time_source_real));
	dataplane_refuse(d);
	core_stop(&core, 1000);
	dataplane_stop(d);
	dataplane_destroy(d);
	struct counts counts = read_sent();
	assert_int_equal(counts.refusals, BEATS);
	assert_int_equal(counts.announcements, 5);
	assert_int_equal(counts.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_follower_takes_over)};
	return cmocka_run_group_tests(tests, prepare, clean_up);
}
