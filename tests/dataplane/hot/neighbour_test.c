// ARP, neighbour solicitations and pings: what is answered, with what, and what is not.
#include "tests/dataplane/hot/fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t arp_build(const struct route *r, const uint8_t *mac, uint8_t *data)
{
	static const uint8_t start[8] = {0, 1, 8, 0, 6, 4, 0, 1};
	uint32_t l3 = route_l3(r);
	uint8_t *arp = data + l3;
	memset(data, 0, 64);
	memcpy(data, mac, 6);
	memcpy(data + 6, r->source_mac, 6);
	if (r->vlan) {
		put16(data + 12, 0x8100);
		put16(data + 14, r->vlan_tag);
	}
	put16(data + l3 - 2, 0x0806);
	memcpy(arp, start, sizeof start);
	memcpy(arp + 8, r->source_mac, 6);
	memcpy(arp + 14, r->source_ipv4, 4);
	memcpy(arp + 24, r->ipv4, 4);
	return l3 + 28;
}

static void expect_refused(struct fleet *f, uint8_t *data, uint32_t size, enum hot_refusal reason)
{
	uint64_t before = fleet_refused(f, reason);
	uint8_t copy[PACKET_BYTES_MAX];
	memcpy(copy, data, size);
	struct packet p = fleet_receive(f, data, size);
	assert_int_equal(fleet_refused(f, reason), before + 1);
	assert_int_equal(p.verdict, PACKET_DROP);
	assert_memory_equal(data, copy, size);
	assert_true(fleet_balances(f));
}

static struct packet expect_answer(struct fleet *f, uint8_t *data, uint32_t size)
{
	uint64_t neighbours = f->counters.neighbours, replies = f->counters.replies;
	struct packet p = fleet_receive(f, data, size);
	assert_int_equal(p.verdict, PACKET_REPLY);
	assert_true(p.size <= size);
	assert_int_equal(f->counters.neighbours, neighbours + 1);
	assert_int_equal(f->counters.replies, replies + 1);
	assert_true(fleet_balances(f));
	assert_false(data[0] & 1); // never to a group
	assert_memory_equal(data + 6, f->worker.port.mac, 6);
	return p;
}

static void arp_requests_are_answered(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	for (uint32_t kind = 0; kind < 8; kind++) {
		struct route r = route_from(3, false, kind & 1);
		if (kind & 2)
			memcpy(r.ipv4, f->worker.port.ipv4[1], 4);
		uint32_t size = arp_build(&r, kind & 4 ? broadcast : r.mac, data);
		struct packet p = expect_answer(f, data, 60);
		assert_int_equal(p.size, 60);
		const uint8_t *arp = data + size - 28;
		static const uint8_t start[8] = {0, 1, 8, 0, 6, 4, 0, 2};
		assert_memory_equal(data, r.source_mac, 6);
		assert_memory_equal(arp, start, 8);
		assert_memory_equal(arp + 8, f->worker.port.mac, 6);
		assert_memory_equal(arp + 14, r.ipv4, 4);
		assert_memory_equal(arp + 18, r.source_mac, 6);
		assert_memory_equal(arp + 24, r.source_ipv4, 4);
	}
	fleet_destroy(f);
}

static void arp_probes_are_answered(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	struct route r = route_from(3, false, false);
	memset(r.source_ipv4, 0, 4);
	expect_answer(f, data, arp_build(&r, broadcast, data));
	assert_memory_equal(data, r.source_mac, 6);
	fleet_destroy(f);
}

static void other_arp_is_refused(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} faults[] = {{1, 6}, {2, 9}, {4, 8}, {5, 16}, {7, 2}, {7, 3}, {24, 11}, {8, 0x03},
		{14, 224}, {14, 255}, {14, 127}};
	struct fleet *f = fleet_create();
	struct route r = route_from(3, false, false);
	uint8_t data[PACKET_BYTES_MAX];
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		uint32_t size = arp_build(&r, broadcast, data);
		data[14 + faults[i].at] = faults[i].value;
		expect_refused(f, data, size, HOT_REFUSED_ARP);
	}
	uint32_t size = arp_build(&r, broadcast, data);
	memcpy(data + 14 + 14, r.ipv4, 4); // somebody else says that it has our address
	expect_refused(f, data, size, HOT_REFUSED_ARP);
	size = arp_build(&r, broadcast, data);
	memset(data + 14 + 8, 0, 6);
	expect_refused(f, data, size, HOT_REFUSED_ARP);
	size = arp_build(&r, broadcast, data);
	expect_refused(f, data, size - 1, HOT_REFUSED_SHORT);
	fleet_destroy(f);
}

static uint32_t echo_build(const struct route *r, uint32_t payload, uint8_t *data)
{
	uint8_t *icmp = data + route_l3(r) + (r->ipv6 ? 40 : 20);
	for (uint32_t i = 0; i < 8 + payload; i++)
		icmp[i] = (uint8_t)(i * 31);
	icmp[0] = r->ipv6 ? 128 : 8;
	icmp[1] = 0;
	put16(icmp + 2, 0);
	uint32_t size = ip_build(r, r->ipv6 ? 58 : 1, 7, 8 + payload, data);
	uint32_t sum = r->ipv6 ? naive_pseudo_sum(data + route_l3(r), true, 58, 8 + payload) : 0;
	put16(icmp + 2, naive_checksum(sum, icmp, 8 + payload));
	return size;
}

static void check_echo_reply(const struct route *r, const uint8_t *data, uint32_t payload)
{
	const uint8_t *ip = data + route_l3(r), *icmp = ip + (r->ipv6 ? 40 : 20);
	uint32_t sum = 0;
	assert_memory_equal(data, r->source_mac, 6);
	if (r->ipv6) {
		assert_memory_equal(ip + 8, r->address_ipv6, 16);
		assert_memory_equal(ip + 24, r->source_ipv6, 16);
		assert_int_equal(ip[7], 64);
		sum = naive_pseudo_sum(ip, true, 58, 8 + payload);
	} else {
		assert_memory_equal(ip + 12, r->ipv4, 4);
		assert_memory_equal(ip + 16, r->source_ipv4, 4);
		assert_int_equal(ip[8], 64);
		assert_int_equal(naive_checksum(0, ip, 20), 0);
	}
	assert_int_equal(icmp[0], r->ipv6 ? 129 : 0);
	assert_int_equal(icmp[1], 0);
	assert_int_equal(naive_checksum(sum, icmp, 8 + payload), 0);
	for (uint32_t i = 4; i < 8 + payload; i++)
		assert_int_equal(icmp[i], (uint8_t)(i * 31));
}

static void pings_are_answered(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	for (uint32_t kind = 0; kind < 4; kind++) {
		struct route r = route_from(3, kind & 1, kind & 2);
		for (uint32_t payload = 0; payload <= 1440; payload += payload < 70 ? 1 : 137) {
			uint32_t size = echo_build(&r, payload, data);
			struct packet p = expect_answer(f, data, size);
			assert_int_equal(p.size, size);
			check_echo_reply(&r, data, payload);
		}
	}
	fleet_destroy(f);
}

// Whatever checksum the request has, the reply's is right: all identifiers at once.
static void echo_checksums_are_right_for_every_sum(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	struct route r = route_from(3, false, false);
	for (uint32_t id = 0; id <= 0xffff; id++) {
		uint32_t size = echo_build(&r, 0, data);
		uint8_t *icmp = data + 34;
		put16(icmp + 4, id);
		put16(icmp + 2, 0);
		put16(icmp + 2, naive_checksum(0, icmp, 8));
		fleet_receive(f, data, size);
		assert_int_equal(naive_checksum(0, icmp, 8), 0);
		assert_int_equal(icmp[0], 0);
	}
	assert_int_equal(f->counters.neighbours, 0x10000);
	fleet_destroy(f);
}

static void pings_are_answered_up_to_a_limit(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	f->worker.pings_left = 10;
	for (uint32_t i = 0; i < 25; i++) {
		struct route r = route_from(1, i % 2 == 1, false);
		uint32_t size = echo_build(&r, 56, data);
		struct packet p = fleet_receive(f, data, size);
		assert_int_equal(p.verdict, i < 10 ? PACKET_REPLY : PACKET_DROP);
	}
	assert_int_equal(fleet_refused(f, HOT_REFUSED_PINGS), 15);
	assert_true(fleet_balances(f));
	fleet_destroy(f);
}

static void other_icmp_is_refused(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	for (uint32_t ipv6 = 0; ipv6 < 2; ipv6++) {
		struct route r = route_from(3, ipv6, false);
		uint32_t icmp = 14 + (ipv6 ? 40 : 20);
		for (uint32_t type = 0; type < 256; type++) {
			if (type == (ipv6 ? 128u : 8u))
				continue;
			uint32_t size = echo_build(&r, 16, data);
			data[icmp] = (uint8_t)type;
			put16(data + icmp + 2, 0);
			uint32_t sum = ipv6 ? naive_pseudo_sum(data + 14, true, 58, 24) : 0;
			put16(data + icmp + 2, naive_checksum(sum, data + icmp, 24));
			expect_refused(f, data, size, HOT_REFUSED_ICMP);
		}
		uint32_t size = echo_build(&r, 16, data);
		data[icmp + 12] ^= 1; // and its checksum is wrong
		expect_refused(f, data, size, HOT_REFUSED_ICMP);
		size = ip_build(&r, ipv6 ? 58 : 1, 64, 7, data);
		expect_refused(f, data, size, HOT_REFUSED_SHORT);
	}
	fleet_destroy(f);
}

struct solicitation {
	struct route route;
	bool to_group, no_option;
	uint32_t target; // which of our addresses
	uint8_t hop_limit, code;
	uint8_t option_type, option_units;
};

static struct solicitation solicitation_of(bool to_group)
{
	return (struct solicitation){.route = route_from(3, true, false),
		.to_group = to_group,
		.hop_limit = 255,
		.option_type = 1,
		.option_units = 1};
}

static uint32_t solicitation_build(const struct fleet *f, struct solicitation *s, uint8_t *data)
{
	struct route *r = &s->route;
	uint8_t *icmp = data + route_l3(r) + 40;
	uint32_t bytes = s->no_option ? 24 : 32;
	const uint8_t *target = f->worker.port.ipv6[s->target];
	memcpy(r->address_ipv6, target, 16);
	if (s->to_group) {
		const uint8_t group[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
		memcpy(r->address_ipv6, group, 13);
		const uint8_t mac[6] = {0x33, 0x33, 0xff, target[13], target[14], target[15]};
		memcpy(r->mac, mac, 6);
	}
	memset(icmp, 0, 32);
	icmp[0] = 135;
	icmp[1] = s->code;
	memcpy(icmp + 8, target, 16);
	icmp[24] = s->option_type;
	icmp[25] = s->option_units;
	memcpy(icmp + 26, r->source_mac, 6);
	uint32_t size = ip_build(r, 58, s->hop_limit, bytes, data);
	uint32_t sum = naive_pseudo_sum(data + route_l3(r), true, 58, bytes);
	put16(icmp + 2, naive_checksum(sum, icmp, bytes));
	return size;
}

static void check_advertisement(
	const struct fleet *f, const struct solicitation *s, const struct packet *p, uint32_t bytes)
{
	const uint8_t *ip = p->data + route_l3(&s->route), *icmp = ip + 40;
	const uint8_t *target = f->worker.port.ipv6[s->target];
	assert_int_equal(p->size, route_l3(&s->route) + 40 + bytes);
	assert_memory_equal(p->data, s->route.source_mac, 6);
	const uint8_t start[8] = {0x60, 0, 0, 0, 0, (uint8_t)bytes, 58, 255};
	assert_memory_equal(ip, start, 8);
	assert_memory_equal(ip + 8, target, 16);
	assert_memory_equal(ip + 24, s->route.source_ipv6, 16);
	assert_int_equal(naive_checksum(naive_pseudo_sum(ip, true, 58, bytes), icmp, bytes), 0);
	assert_int_equal(icmp[0], 136);
	assert_int_equal(icmp[1], 0);
	const uint8_t flags[4] = {0x60}; // solicited, override
	assert_memory_equal(icmp + 4, flags, 4);
	assert_memory_equal(icmp + 8, target, 16);
	if (bytes == 24)
		return;
	assert_int_equal(icmp[24], 2);
	assert_int_equal(icmp[25], 1);
	assert_memory_equal(icmp + 26, f->worker.port.mac, 6);
}

static void solicitations_are_answered(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	for (uint32_t kind = 0; kind < 8; kind++) {
		struct solicitation s = solicitation_of(kind & 1);
		s.route.vlan = kind & 2;
		s.target = kind >> 2;
		uint32_t size = solicitation_build(f, &s, data);
		struct packet p = expect_answer(f, data, size);
		check_advertisement(f, &s, &p, 32);
	}
	// Between neighbours that know each other the option may be missing: so it is in the answer.
	struct solicitation s = solicitation_of(false);
	s.no_option = true;
	uint32_t size = solicitation_build(f, &s, data);
	struct packet p = expect_answer(f, data, size);
	check_advertisement(f, &s, &p, 24);
	fleet_destroy(f);
}

static void other_solicitations_are_refused(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	struct solicitation faults[8];
	for (uint32_t i = 0; i < 8; i++)
		faults[i] = solicitation_of(i % 2);
	faults[0].hop_limit = 254; // was forwarded
	faults[1].hop_limit = 64;
	faults[2].code = 1;
	faults[3].no_option = true; // to a group it has to say who asks
	faults[4].option_units = 0;
	faults[5].option_units = 2; // longer than the packet
	faults[6].option_units = 0;
	faults[6].option_type = 14;
	faults[7].option_type = 2;
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t size = solicitation_build(f, &faults[i], data);
		expect_refused(f, data, size, HOT_REFUSED_ICMP);
	}
	// A group as the asker's link address.
	struct solicitation s = solicitation_of(false);
	s.route.source_mac[0] = 0x33;
	uint32_t size = solicitation_build(f, &s, data);
	data[6] = 2;
	expect_refused(f, data, size, HOT_REFUSED_ICMP);
	// A target that is not ours, though its group is.
	s = solicitation_of(true);
	size = solicitation_build(f, &s, data);
	uint8_t *icmp = data + 14 + 40;
	icmp[8] ^= 1;
	put16(icmp + 2, 0);
	put16(icmp + 2, naive_checksum(naive_pseudo_sum(data + 14, true, 58, 32), icmp, 32));
	expect_refused(f, data, size, HOT_REFUSED_ICMP);
	// Somebody else's group, and a group's packet in another group's frame.
	s = solicitation_of(true);
	size = solicitation_build(f, &s, data);
	data[14 + 24 + 15] ^= 1;
	expect_refused(f, data, size, HOT_REFUSED_NOT_OURS_IP);
	size = solicitation_build(f, &s, data);
	data[5] ^= 1;
	expect_refused(f, data, size, HOT_REFUSED_NOT_OURS_IP);
	// Duplicate address detection would have to be answered to everybody.
	s = solicitation_of(true);
	s.no_option = true;
	memset(s.route.source_ipv6, 0, 16);
	size = solicitation_build(f, &s, data);
	expect_refused(f, data, size, HOT_REFUSED_SOURCE);
	fleet_destroy(f);
}

// A ping or a datagram to a group of ours is not answered, whatever it says.
static void groups_are_for_solicitations_only(void **state)
{
	struct fleet *f = fleet_create();
	uint8_t data[PACKET_BYTES_MAX];
	struct solicitation s = solicitation_of(true);
	solicitation_build(f, &s, data);
	uint32_t size = echo_build(&s.route, 24, data);
	expect_refused(f, data, size, HOT_REFUSED_ICMP);
	uint8_t frame[FRAME_BYTES_MAX];
	size = udp_build(&s.route, frame, fleet_heartbeat(f, 1, 1, frame), data);
	expect_refused(f, data, size, HOT_REFUSED_NOT_OURS_MAC);
	fleet_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arp_requests_are_answered),
		cmocka_unit_test(arp_probes_are_answered),
		cmocka_unit_test(other_arp_is_refused),
		cmocka_unit_test(pings_are_answered),
		cmocka_unit_test(echo_checksums_are_right_for_every_sum),
		cmocka_unit_test(pings_are_answered_up_to_a_limit),
		cmocka_unit_test(other_icmp_is_refused),
		cmocka_unit_test(solicitations_are_answered),
		cmocka_unit_test(other_solicitations_are_refused),
		cmocka_unit_test(groups_are_for_solicitations_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
