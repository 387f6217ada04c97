// Every reason to refuse a packet before its tag is looked at: a good heartbeat with just that fault.
#include "dataplane/wire/wire.h"
#include "tests/dataplane/hot/fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum place { ETHER, TYPE, IP, UDP, FRAME };
enum { V4 = 1, V6 = 2, UNTAGGED = 4, TAGGED = 8 };
#define ANY_IP (V4 | V6)
#define ANY_TAG (UNTAGGED | TAGGED)
#define ANY (ANY_IP | ANY_TAG)

struct fault {
	const char *what;
	enum hot_refusal reason;
	uint8_t on;       // which packets have it
	enum place place; // what is written where, when there is something
	uint16_t at;
	const char *bytes;
	uint8_t count;
	bool sums_stay_wrong; // else all checksums are put right afterwards
	uint16_t size;        // of the packet, when it is another one
	int16_t longer;       // than it was
	uint16_t vlan_id;     // of the port
	uint8_t segments;
};

#define WRITE(place_, at_, text) \
	.place = place_, .at = at_, .bytes = text, .count = sizeof(text) - 1
#define ZEROS_16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static const struct fault faults[] = {
	{"cut in Ethernet", HOT_REFUSED_SHORT, ANY, .size = 13},
	{"empty", HOT_REFUSED_SHORT, ANY, .size = UINT16_MAX},
	{"cut in the tag", HOT_REFUSED_SHORT, ANY_IP | TAGGED, .size = 17},
	{"cut in IP", HOT_REFUSED_SHORT, V4 | UNTAGGED, .size = 14 + 19},
	{"cut in IP", HOT_REFUSED_SHORT, V6 | TAGGED, .size = 18 + 39},
	{"shorter than IP says", HOT_REFUSED_SHORT, ANY, .longer = -1},
	{"IP ends in UDP", HOT_REFUSED_SHORT, V4 | ANY_TAG, WRITE(IP, 2, "\0\x1b")},
	{"IP ends in UDP", HOT_REFUSED_SHORT, V6 | ANY_TAG, WRITE(IP, 4, "\0\x07")},
	{"two segments", HOT_REFUSED_SEGMENTED, ANY, .segments = 2},
	{"longer than Ethernet", HOT_REFUSED_OVERSIZED, ANY, .size = 1519},
	{"another port's", HOT_REFUSED_NOT_OURS_MAC, ANY, WRITE(ETHER, 5, "\x99")},
	{"broadcast", HOT_REFUSED_NOT_OURS_MAC, ANY, WRITE(ETHER, 0, "\xff\xff\xff\xff\xff\xff")},
	{"all nodes", HOT_REFUSED_NOT_OURS_MAC, V4 | ANY_TAG,
		WRITE(ETHER, 0, "\x33\x33\0\0\0\x01")},
	{"ours, in a group's frame", HOT_REFUSED_NOT_OURS_IP, V6 | ANY_TAG,
		WRITE(ETHER, 0, "\x33\x33\xff\xab\xcd\xef")},
	{"group of another type", HOT_REFUSED_NOT_OURS_MAC, ANY_IP | UNTAGGED,
		WRITE(ETHER, 0, "\x01\x80\xc2\0\0\x0e\x06\0\0\0\0\x01\x88\xcc")},
	{"from a group", HOT_REFUSED_SOURCE, ANY, WRITE(ETHER, 6, "\x01")},
	{"from no port", HOT_REFUSED_SOURCE, ANY, WRITE(ETHER, 6, "\0\0\0\0\0\0")},
	{"another VLAN", HOT_REFUSED_VLAN, ANY_IP | TAGGED, .vlan_id = 6},
	{"no VLAN", HOT_REFUSED_VLAN, ANY_IP | UNTAGGED, .vlan_id = 5},
	{"tagged twice", HOT_REFUSED_VLAN, ANY_IP | TAGGED, WRITE(TYPE, 0, "\x81\0")},
	{"tagged twice", HOT_REFUSED_VLAN, ANY_IP | TAGGED, WRITE(TYPE, 0, "\x88\xa8")},
	{"LLDP", HOT_REFUSED_ETHERTYPE, ANY, WRITE(TYPE, 0, "\x88\xcc")},
	{"802.3", HOT_REFUSED_ETHERTYPE, ANY, WRITE(TYPE, 0, "\0\x2e")},
	{"no ARP", HOT_REFUSED_ARP, ANY, WRITE(TYPE, 0, "\x08\x06")},
	{"version 5", HOT_REFUSED_IP_HEADER, V4 | ANY_TAG, WRITE(IP, 0, "\x55")},
	{"version 7", HOT_REFUSED_IP_HEADER, V6 | ANY_TAG, WRITE(IP, 0, "\x70")},
	{"header of 16 bytes", HOT_REFUSED_IP_HEADER, V4 | ANY_TAG, WRITE(IP, 0, "\x44")},
	{"total below the header", HOT_REFUSED_IP_HEADER, V4 | ANY_TAG, WRITE(IP, 2, "\0\x13")},
	{"no hops left", HOT_REFUSED_IP_HEADER, V4 | ANY_TAG, WRITE(IP, 8, "\0")},
	{"no hops left", HOT_REFUSED_IP_HEADER, V6 | ANY_TAG, WRITE(IP, 7, "\0")},
	{"reserved flag", HOT_REFUSED_IP_HEADER, V4 | ANY_TAG, WRITE(IP, 6, "\x80\0")},
	{"IPv4 options", HOT_REFUSED_IP_OPTIONS, V4 | ANY_TAG, WRITE(IP, 0, "\x46")},
	{"hop by hop", HOT_REFUSED_IP_OPTIONS, V6 | ANY_TAG, WRITE(IP, 6, "\0")},
	{"routing", HOT_REFUSED_IP_OPTIONS, V6 | ANY_TAG, WRITE(IP, 6, "\x2b")},
	{"authentication", HOT_REFUSED_IP_OPTIONS, V6 | ANY_TAG, WRITE(IP, 6, "\x33")},
	{"destination options", HOT_REFUSED_IP_OPTIONS, V6 | ANY_TAG, WRITE(IP, 6, "\x3c")},
	{"header checksum", HOT_REFUSED_IP_CHECKSUM, V4 | ANY_TAG, WRITE(IP, 10, "\x01\x02"),
		.sums_stay_wrong = true},
	{"more fragments", HOT_REFUSED_FRAGMENT, V4 | ANY_TAG, WRITE(IP, 6, "\x20\0")},
	{"last fragment", HOT_REFUSED_FRAGMENT, V4 | ANY_TAG, WRITE(IP, 6, "\0\x01")},
	{"fragment", HOT_REFUSED_FRAGMENT, V6 | ANY_TAG, WRITE(IP, 6, "\x2c")},
	{"another address", HOT_REFUSED_NOT_OURS_IP, V4 | ANY_TAG, WRITE(IP, 19, "\x02")},
	{"another address", HOT_REFUSED_NOT_OURS_IP, V6 | ANY_TAG, WRITE(IP, 30, "\x02")},
	{"another address", HOT_REFUSED_NOT_OURS_IP, V6 | ANY_TAG, WRITE(IP, 39, "\x02")},
	{"from multicast", HOT_REFUSED_SOURCE, V4 | ANY_TAG, WRITE(IP, 12, "\xe0")},
	{"from multicast", HOT_REFUSED_SOURCE, V6 | ANY_TAG, WRITE(IP, 8, "\xff")},
	{"from broadcast", HOT_REFUSED_SOURCE, V4 | ANY_TAG, WRITE(IP, 12, "\xff\xff\xff\xff")},
	{"from loopback", HOT_REFUSED_SOURCE, V4 | ANY_TAG, WRITE(IP, 12, "\x7f")},
	{"from loopback", HOT_REFUSED_SOURCE, V6 | ANY_TAG,
		WRITE(IP, 8, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01")},
	{"from nobody", HOT_REFUSED_SOURCE, V4 | ANY_TAG, WRITE(IP, 12, "\0\0\0\0")},
	{"from nobody", HOT_REFUSED_SOURCE, V6 | ANY_TAG, WRITE(IP, 8, ZEROS_16)},
	{"from ourselves", HOT_REFUSED_SOURCE, V4 | ANY_TAG, WRITE(IP, 12, "\x0a\x01\0\x01")},
	{"from ourselves", HOT_REFUSED_SOURCE, V6 | ANY_TAG,
		WRITE(IP, 8, "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\xab\xcd\xef")},
	{"from port 0", HOT_REFUSED_SOURCE, ANY, WRITE(UDP, 0, "\0\0")},
	{"TCP", HOT_REFUSED_PROTOCOL, V4 | ANY_TAG, WRITE(IP, 9, "\x06")},
	{"TCP", HOT_REFUSED_PROTOCOL, V6 | ANY_TAG, WRITE(IP, 6, "\x06")},
	{"ICMPv6 over IPv4", HOT_REFUSED_PROTOCOL, V4 | ANY_TAG, WRITE(IP, 9, "\x3a")},
	{"ICMP over IPv6", HOT_REFUSED_PROTOCOL, V6 | ANY_TAG, WRITE(IP, 6, "\x01")},
	{"no echo", HOT_REFUSED_ICMP, V4 | ANY_TAG, WRITE(IP, 9, "\x01")},
	{"no echo", HOT_REFUSED_ICMP, V6 | ANY_TAG, WRITE(IP, 6, "\x3a")},
	{"UDP shorter than IP", HOT_REFUSED_UDP_LENGTH, ANY, WRITE(UDP, 4, "\0\x47")},
	{"UDP longer than IP", HOT_REFUSED_UDP_LENGTH, ANY, WRITE(UDP, 4, "\0\x49")},
	{"UDP of 7 bytes", HOT_REFUSED_UDP_LENGTH, ANY, WRITE(UDP, 4, "\0\x07")},
	{"UDP checksum", HOT_REFUSED_UDP_CHECKSUM, ANY, WRITE(UDP, 6, "\x12\x34"),
		.sums_stay_wrong = true},
	{"a bit of the frame", HOT_REFUSED_UDP_CHECKSUM, ANY, WRITE(FRAME, 33, "\x80"),
		.sums_stay_wrong = true},
	{"the last bit", HOT_REFUSED_UDP_CHECKSUM, ANY, WRITE(FRAME, 44, "\x01"),
		.sums_stay_wrong = true},
	{"no UDP checksum", HOT_REFUSED_UDP_CHECKSUM, V6 | ANY_TAG, WRITE(UDP, 6, "\0\0"),
		.sums_stay_wrong = true},
	{"another port", HOT_REFUSED_NOT_OURS_PORT, ANY, WRITE(UDP, 2, "\0\x35")},
	{"magic", HOT_REFUSED_FRAME_MAGIC, ANY, WRITE(FRAME, 0, "\x43")},
	{"version 0", HOT_REFUSED_FRAME_VERSION, ANY, WRITE(FRAME, 2, "\0")},
	{"version 2", HOT_REFUSED_FRAME_VERSION, ANY, WRITE(FRAME, 2, "\x02")},
	{"length below", HOT_REFUSED_FRAME_LENGTH, ANY, WRITE(FRAME, 4, "\x3f")},
	{"length above", HOT_REFUSED_FRAME_LENGTH, ANY, WRITE(FRAME, 5, "\x01")},
	{"type 0", HOT_REFUSED_FRAME_TYPE, ANY, WRITE(FRAME, 3, "\0")},
	{"an answer", HOT_REFUSED_FRAME_TYPE, ANY, WRITE(FRAME, 3, "\x03")},
	{"a refusal", HOT_REFUSED_FRAME_TYPE, ANY, WRITE(FRAME, 3, "\x0f")},
	{"type 14", HOT_REFUSED_FRAME_TYPE, ANY, WRITE(FRAME, 3, "\x0e")},
	{"type 200", HOT_REFUSED_FRAME_TYPE, ANY, WRITE(FRAME, 3, "\xc8")},
	{"key 0", HOT_REFUSED_UNKNOWN_KEY, ANY, WRITE(FRAME, 6, "\0")},
};

static void heartbeat_build(
	const struct fleet *f, const struct route *route, uint8_t *data, uint32_t *size)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = fleet_heartbeat(f, 3, 50, frame);
	*size = udp_build(route, frame, bytes, data);
}

static void fault_apply(const struct fault *fault, const struct route *route, uint8_t *data)
{
	uint32_t l3 = route_l3(route), offset = route_offset(route);
	const uint32_t starts[] = {0, l3 - 2, l3, offset - 8, offset};
	memcpy(data + starts[fault->place] + fault->at, fault->bytes, fault->count);
	if (fault->sums_stay_wrong)
		return;
	if (!route->ipv6)
		ipv4_checksum_fix(data + l3);
	udp_checksum_fix(route, data, WIRE_HEARTBEAT_BYTES);
}

static void check_fault(const struct fault *fault, bool ipv6, bool vlan)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, ipv6, vlan);
	uint8_t data[PACKET_BYTES_MAX] = {0}, before[PACKET_BYTES_MAX];
	uint32_t size;
	heartbeat_build(f, &route, data, &size);
	if (fault->count > 0)
		fault_apply(fault, &route, data);
	if (fault->size > 0)
		size = fault->size == UINT16_MAX ? 0 : fault->size;
	size += (uint32_t)fault->longer;
	f->worker.port.vlan_id = fault->vlan_id;
	memcpy(before, data, sizeof data);
	struct packet p = {.data = data,
		.size = size,
		.capacity = sizeof data,
		.segments = fault->segments ? fault->segments : 1};
	hot_receive(&f->worker, &p, 1);
	bool right = f->counters.refused[fault->reason] == 1 && fleet_balances(f) &&
		     f->counters.received == 1 && p.verdict == PACKET_DROP &&
		     f->counters.replies == 0;
	if (!right)
		print_error("%s (IPv%d%s) is not counted as %s\n", fault->what, ipv6 ? 6 : 4,
			vlan ? ", tagged" : "", hot_refusal_labels[fault->reason]);
	assert_true(right);
	assert_memory_equal(data, before, sizeof data);
	fleet_destroy(f);
}

static void each_fault_has_its_counter(void **state)
{
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			for (int vlan = 0; vlan < 2; vlan++) {
				uint8_t kind = (ipv6 ? V6 : V4) | (vlan ? TAGGED : UNTAGGED);
				if ((faults[i].on & kind) == kind)
					check_fault(&faults[i], ipv6, vlan);
			}
		}
	}
}

static void every_parse_refusal_is_in_the_table(void **state)
{
	// Up to BAD_TAG; the rest, and the three that need a frame of their own, are tested below and in
	// heartbeat_test.c.
	bool seen[HOT_REFUSED_KINDS] = {
		[HOT_REFUSED_FRAME_SHORT] = true, [HOT_REFUSED_UNKNOWN_SLOT] = true};
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		seen[faults[i].reason] = true;
	for (uint32_t reason = 0; reason < HOT_REFUSED_BAD_TAG; reason++)
		assert_true(seen[reason]);
}

static void good_heartbeats_are_accepted_on_every_kind_of_packet(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct fleet *f = fleet_create();
		struct route route = route_from(1, kind & 1, kind & 2);
		uint8_t data[PACKET_BYTES_MAX];
		uint32_t size, bytes;
		heartbeat_build(f, &route, data, &size);
		struct packet p = fleet_receive(f, data, size);
		reply_check(&route, &p, size, &bytes);
		assert_int_equal(bytes, WIRE_HEARTBEAT_BYTES);
		assert_int_equal(f->counters.heartbeats, 1);
		fleet_destroy(f);
	}
}

// What is no fault: each is a heartbeat that must be accepted.
static void harmless_differences_are_accepted(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, false, false);
	uint8_t data[PACKET_BYTES_MAX];
	uint32_t size;

	heartbeat_build(f, &route, data, &size);
	memset(data + size, 0xee, 20); // Ethernet padding
	fleet_receive(f, data, size + 20);
	assert_int_equal(f->counters.heartbeats, 1);

	uint8_t frame[FRAME_BYTES_MAX];
	route.no_udp_checksum = true; // allowed over IPv4
	size = udp_build(&route, frame, fleet_heartbeat(f, 3, 51, frame), data);
	fleet_receive(f, data, size);
	assert_int_equal(f->counters.heartbeats, 2);

	route.no_udp_checksum = false;
	memcpy(route.ipv4, f->worker.port.ipv4[1], 4); // our other address
	size = udp_build(&route, frame, fleet_heartbeat(f, 3, 52, frame), data);
	fleet_receive(f, data, size);
	assert_int_equal(f->counters.heartbeats, 3);

	f->worker.port.vlan_id = 5;
	route = route_from(1, true, true);
	memcpy(route.address_ipv6, f->worker.port.ipv6[1], 16);
	size = udp_build(&route, frame, fleet_heartbeat(f, 3, 53, frame), data);
	fleet_receive(f, data, size);
	assert_int_equal(f->counters.heartbeats, 4);

	f->worker.port.promiscuous_mac = true;
	data[1] ^= 0x55;
	size = udp_build(&route, frame, fleet_heartbeat(f, 3, 54, frame), data);
	fleet_receive(f, data, size);
	assert_int_equal(f->counters.heartbeats, 5);
	assert_true(fleet_balances(f));
	fleet_destroy(f);
}

static void promiscuous_answers_come_from_our_own_port(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, false, false);
	uint8_t data[PACKET_BYTES_MAX];
	uint32_t size, bytes;
	f->worker.port.promiscuous_mac = true;
	route.mac[4] = 0x77;
	heartbeat_build(f, &route, data, &size);
	struct packet p = fleet_receive(f, data, size);
	reply_check(&route, &p, size, &bytes);
	// Groups are not ours even so.
	heartbeat_build(f, &route, data, &size);
	data[0] |= 1;
	p = fleet_receive(f, data, size);
	assert_int_equal(p.verdict, PACKET_DROP);
	assert_int_equal(fleet_refused(f, HOT_REFUSED_NOT_OURS_MAC), 1);
	fleet_destroy(f);
}

// A port of the kernel's hears its own machine, and still nobody who cannot be answered.
static void local_senders_are_heard_where_they_may_be(void **state)
{
	static const struct {
		bool ipv6;
		uint8_t source[16];
		bool heard;
	} cases[] = {
		{false, {127, 0, 0, 1}, true},
		{false, {10, 1, 0, 1}, true}, // ours
		{false, {0, 0, 0, 0}, false},
		{false, {224, 0, 0, 1}, false},
		{false, {255, 255, 255, 255}, false},
		{true, {[15] = 1}, true},
		{true, {0xfd, [13] = 0xab, 0xcd, 0xef}, true}, // ours
		{true, {0}, false},
		{true, {0xff, 2, [15] = 1}, false},
	};
	struct fleet *f = fleet_create();
	uint64_t heard = 0, refused = 0;
	f->worker.port.local_senders = true;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t frame[FRAME_BYTES_MAX], data[PACKET_BYTES_MAX];
		struct route route = route_from(1, cases[i].ipv6, false);
		memcpy(cases[i].ipv6 ? route.source_ipv6 : route.source_ipv4, cases[i].source,
			cases[i].ipv6 ? 16 : 4);
		uint32_t bytes = fleet_heartbeat(f, 3, 60 + i, frame);
		uint32_t size = udp_build(&route, frame, bytes, data);
		struct packet p = fleet_receive(f, data, size);
		heard += cases[i].heard;
		refused += !cases[i].heard;
		assert_int_equal(f->counters.heartbeats, heard);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_SOURCE), refused);
		if (cases[i].heard)
			reply_check(&route, &p, size, &bytes);
	}
	assert_true(fleet_balances(f));
	fleet_destroy(f);
}

// The port's word about a checksum counts only when it is trusted, and only when it is good.
static void checksum_flags_need_trust(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, false, false);
	uint8_t data[PACKET_BYTES_MAX], copy[PACKET_BYTES_MAX];
	uint32_t size;
	heartbeat_build(f, &route, data, &size);
	data[route_offset(&route) - 1] ^= 0x10;
	static const struct {
		bool trust;
		enum packet_checksum flag;
		bool accepted;
	} cases[] = {
		{false, PACKET_CHECKSUM_GOOD, false},
		{true, PACKET_CHECKSUM_UNKNOWN, false},
		{true, PACKET_CHECKSUM_BAD, false},
		{true, PACKET_CHECKSUM_GOOD, true},
	};
	uint64_t accepted = 0, refused = 0;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		memcpy(copy, data, sizeof copy);
		struct packet p = {.data = copy,
			.size = size,
			.capacity = sizeof copy,
			.segments = 1,
			.checksum = (uint8_t)cases[i].flag};
		f->worker.port.trust_checksum = cases[i].trust;
		hot_receive(&f->worker, &p, 1);
		accepted += cases[i].accepted;
		refused += !cases[i].accepted;
		assert_int_equal(f->counters.heartbeats, accepted);
		assert_int_equal(fleet_refused(f, HOT_REFUSED_UDP_CHECKSUM), refused);
	}
	fleet_destroy(f);
}

static void payloads_that_are_no_frame_are_refused(void **state)
{
	struct fleet *f = fleet_create();
	struct route route = route_from(1, false, false);
	uint8_t data[PACKET_BYTES_MAX], payload[1500] = {0x42, 0x42, 1, 2, 39};
	for (uint32_t bytes = 0; bytes < WIRE_FRAME_BYTES_MIN; bytes++)
		fleet_receive(f, data, udp_build(&route, payload, bytes, data));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_FRAME_SHORT), WIRE_FRAME_BYTES_MIN);
	// Fits Ethernet over IPv4, but not every way.
	fleet_receive(f, data, udp_build(&route, payload, FRAME_BYTES_MAX + 1, data));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_OVERSIZED), 1);
	fleet_receive(f, data, udp_build(&route, payload, FRAME_BYTES_MAX, data));
	assert_int_equal(fleet_refused(f, HOT_REFUSED_FRAME_LENGTH), 1);
	assert_true(fleet_balances(f));
	fleet_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_has_its_counter),
		cmocka_unit_test(every_parse_refusal_is_in_the_table),
		cmocka_unit_test(good_heartbeats_are_accepted_on_every_kind_of_packet),
		cmocka_unit_test(harmless_differences_are_accepted),
		cmocka_unit_test(promiscuous_answers_come_from_our_own_port),
		cmocka_unit_test(local_senders_are_heard_where_they_may_be),
		cmocka_unit_test(checksum_flags_need_trust),
		cmocka_unit_test(payloads_that_are_no_frame_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
