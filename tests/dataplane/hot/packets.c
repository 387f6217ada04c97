#include "tests/dataplane/hot/packets.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t our_mac[6] = {0x02, 0xbe, 0x47, 0x00, 0x00, 0x01};
static const uint8_t our_ipv4[2][4] = {{10, 1, 0, 1}, {192, 168, 7, 9}};
static const uint8_t our_ipv6[2][16] = {
	{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 0xef},
	{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0x47, 0xff, 0xfe, 0, 0, 1},
};

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

struct hot_port test_port(void)
{
	struct hot_port port = {.ipv4_count = 2, .ipv6_count = 2, .udp_port = TEST_PORT};
	memcpy(port.mac, our_mac, 6);
	memcpy(port.ipv4, our_ipv4, sizeof our_ipv4);
	memcpy(port.ipv6, our_ipv6, sizeof our_ipv6);
	return port;
}

struct route route_from(uint32_t host, bool ipv6, bool vlan)
{
	struct route r = {.vlan = vlan, .ipv6 = ipv6, .vlan_tag = 0x6005, .port = TEST_PORT};
	r.source_port = (uint16_t)(20000 + host % 40000);
	memcpy(r.mac, our_mac, 6);
	memcpy(r.ipv4, our_ipv4[0], 4);
	memcpy(r.address_ipv6, our_ipv6[0], 16);
	const uint8_t mac[6] = {0x06, 0, 0, 0, (uint8_t)(host >> 8), (uint8_t)host};
	memcpy(r.source_mac, mac, 6);
	const uint8_t ipv4[4] = {10, 2, (uint8_t)(host >> 8), (uint8_t)host};
	memcpy(r.source_ipv4, ipv4, 4);
	r.source_ipv6[0] = 0xfd;
	memcpy(r.source_ipv6 + 12, ipv4, 4);
	return r;
}

uint32_t route_l3(const struct route *r)
{
	return r->vlan ? 18 : 14;
}

uint32_t route_offset(const struct route *r)
{
	return route_l3(r) + (r->ipv6 ? 40 : 20) + 8;
}

uint16_t naive_checksum(uint32_t sum, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		sum += i % 2 ? data[i] : (uint32_t)data[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return (uint16_t)~sum;
}

uint32_t naive_pseudo_sum(const uint8_t *ip, bool ipv6, uint8_t protocol, uint32_t bytes)
{
	uint8_t pseudo[40] = {0};
	uint32_t addresses = ipv6 ? 32 : 8;
	memcpy(pseudo, ip + (ipv6 ? 8 : 12), addresses);
	put16(pseudo + addresses + 2, bytes);
	put16(pseudo + addresses + 6, protocol);
	return (uint16_t)~naive_checksum(0, pseudo, addresses + 8);
}

void ipv4_checksum_fix(uint8_t *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, naive_checksum(0, ip, 20));
}

static void ethernet_put(const struct route *r, uint8_t *data)
{
	memcpy(data, r->mac, 6);
	memcpy(data + 6, r->source_mac, 6);
	if (r->vlan) {
		put16(data + 12, 0x8100);
		put16(data + 14, r->vlan_tag);
	}
	put16(data + route_l3(r) - 2, r->ipv6 ? 0x86dd : 0x0800);
}

uint32_t ip_build(
	const struct route *r, uint8_t protocol, uint8_t hop_limit, uint32_t bytes, uint8_t *data)
{
	uint8_t *ip = data + route_l3(r);
	ethernet_put(r, data);
	if (r->ipv6) {
		const uint8_t start[8] = {0x6a, 0xbc, 0xde, 0xf0, 0, 0, protocol, hop_limit};
		memcpy(ip, start, 8);
		put16(ip + 4, bytes);
		memcpy(ip + 8, r->source_ipv6, 16);
		memcpy(ip + 24, r->address_ipv6, 16);
		return route_l3(r) + 40 + bytes;
	}
	const uint8_t start[10] = {0x45, 0xb9, 0, 0, 0x12, 0x34, 0x40, 0, hop_limit, protocol};
	memcpy(ip, start, 10);
	put16(ip + 2, 20 + bytes);
	memcpy(ip + 12, r->source_ipv4, 4);
	memcpy(ip + 16, r->ipv4, 4);
	ipv4_checksum_fix(ip);
	return route_l3(r) + 20 + bytes;
}

void udp_checksum_fix(const struct route *r, uint8_t *data, uint32_t bytes)
{
	uint8_t *udp = data + route_offset(r) - 8;
	put16(udp + 6, 0);
	uint32_t sum = naive_pseudo_sum(data + route_l3(r), r->ipv6, 17, 8 + bytes);
	uint16_t checksum = naive_checksum(sum, udp, 8 + bytes);
	put16(udp + 6, checksum == 0 ? 0xffff : checksum);
}

uint32_t udp_build(const struct route *r, const void *payload, uint32_t bytes, uint8_t *data)
{
	uint8_t *udp = data + route_offset(r) - 8;
	if (bytes > 0)
		memcpy(udp + 8, payload, bytes);
	put16(udp, r->source_port);
	put16(udp + 2, r->port);
	put16(udp + 4, 8 + bytes);
	put16(udp + 6, 0);
	uint32_t size = ip_build(r, 17, 61, 8 + bytes, data);
	if (!r->no_udp_checksum)
		udp_checksum_fix(r, data, bytes);
	return size;
}

static void check_ethernet(const struct route *r, const uint8_t *data)
{
	assert_memory_equal(data, r->source_mac, 6);
	assert_memory_equal(data + 6, our_mac, 6);
	if (r->vlan) {
		const uint8_t tag[4] = {0x81, 0, (uint8_t)(r->vlan_tag >> 8), (uint8_t)r->vlan_tag};
		assert_memory_equal(data + 12, tag, 4);
	}
	assert_int_equal(data[route_l3(r) - 2], r->ipv6 ? 0x86 : 0x08);
}

static void check_ip(const struct route *r, const uint8_t *ip, uint32_t bytes)
{
	if (r->ipv6) {
		const uint8_t start[8] = {
			0x60, 0, 0, 0, (uint8_t)(bytes >> 8), (uint8_t)bytes, 17, 64};
		assert_memory_equal(ip, start, 8);
		assert_memory_equal(ip + 8, r->address_ipv6, 16);
		assert_memory_equal(ip + 24, r->source_ipv6, 16);
		return;
	}
	uint32_t total = 20 + bytes;
	const uint8_t start[10] = {
		0x45, 0, (uint8_t)(total >> 8), (uint8_t)total, 0, 0, 0x40, 0, 64, 17};
	assert_memory_equal(ip, start, 10);
	assert_int_equal(naive_checksum(0, ip, 20), 0);
	assert_memory_equal(ip + 12, r->ipv4, 4);
	assert_memory_equal(ip + 16, r->source_ipv4, 4);
}

const uint8_t *reply_check(
	const struct route *r, const struct packet *p, uint32_t request_size, uint32_t *frame_bytes)
{
	assert_int_equal(p->verdict, PACKET_REPLY);
	assert_true(p->size <= request_size);
	uint32_t offset = route_offset(r);
	assert_true(p->size >= offset);
	*frame_bytes = p->size - offset;
	const uint8_t *ip = p->data + route_l3(r), *udp = p->data + offset - 8;
	check_ethernet(r, p->data);
	check_ip(r, ip, 8 + *frame_bytes);
	const uint8_t start[6] = {(uint8_t)(r->port >> 8), (uint8_t)r->port,
		(uint8_t)(r->source_port >> 8), (uint8_t)r->source_port,
		(uint8_t)((8 + *frame_bytes) >> 8), (uint8_t)(8 + *frame_bytes)};
	assert_memory_equal(udp, start, 6);
	assert_true(udp[6] != 0 || udp[7] != 0);
	uint32_t sum = naive_pseudo_sum(ip, r->ipv6, 17, 8 + *frame_bytes);
	assert_int_equal(naive_checksum(sum, udp, 8 + *frame_bytes), 0);
	return p->data + offset;
}
