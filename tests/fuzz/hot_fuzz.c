// Arbitrary packets through the packet path. Input: a byte of settings, then packets, each a byte of
// flags, a length (16 bits) and its bytes. The keys are unknown to whoever makes up the input, so nothing but
// a neighbour's question may be answered, and nothing may be acted on.
#include "dataplane/hot/headers.h"
#include "state/base/check.h"
#include "tests/dataplane/hot/fleet.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { TRUSTED = 1, TAGGED_ONLY = 2, PROMISCUOUS = 4 };        // settings
enum { SUM_GOOD = 1, SUM_BAD = 2, CHAINED = 4, FIX_IPV4 = 8 }; // a packet's flags

static struct fleet *fleet(void)
{
	static struct fleet *f;
	if (f == NULL)
		f = fleet_create();
	// A process must not carry over anything from one input to the next.
	memset(&f->counters, 0, sizeof f->counters);
	return f;
}

// Else hardly any input would get past the checksum.
static void fix_ipv4(uint8_t *data, uint32_t size)
{
	for (uint32_t l3 = 14; l3 <= 18; l3 += 4) {
		if (size >= l3 + 20 && data[l3 - 2] == 8 && data[l3 - 1] == 0)
			ipv4_checksum_fix(data + l3);
	}
}

// Exactly as large as the packet, so that a sanitizer sees a step over its end.
static uint32_t take_packets(
	const uint8_t *input, size_t left, struct packet *burst, uint8_t *copies[])
{
	uint32_t count_ = 0;
	while (left >= 3 && count_ < BURST_MAX) {
		uint8_t flags = input[0];
		uint32_t size = input[1] | (uint32_t)input[2] << 8;
		input += 3;
		left -= 3;
		if (size > left)
			size = (uint32_t)left;
		uint8_t *data = malloc(size + !size);
		copies[count_] = malloc(size + !size);
		CHECK(data != NULL && copies[count_] != NULL);
		memcpy(data, input, size);
		if (flags & FIX_IPV4)
			fix_ipv4(data, size);
		memcpy(copies[count_], data, size);
		burst[count_++] = (struct packet){.data = data,
			.size = size,
			.capacity = size,
			.checksum = flags & 3,
			.segments = flags & CHAINED ? 2 : 1};
		input += size;
		left -= size;
	}
	return count_;
}

static void check_answer(const struct fleet *f, const struct packet *p, uint32_t request_size)
{
	CHECK(p->size <= request_size);
	CHECK(!(p->data[0] & 1));
	CHECK(memcmp(p->data + 6, f->worker.port.mac, 6) == 0);
	uint32_t l3 = net16(p->data + 12) == ETHERTYPE_VLAN ? 18 : 14;
	uint32_t type = net16(p->data + l3 - 2);
	if (type == ETHERTYPE_ARP)
		CHECK(p->data[l3 + 7] == 2);
	else if (type == ETHERTYPE_IPV4)
		CHECK(p->data[l3 + 9] == PROTOCOL_ICMP && p->data[l3 + 20] == 0);
	else
		CHECK(type == ETHERTYPE_IPV6 && p->data[l3 + 6] == PROTOCOL_ICMPV6 &&
			(p->data[l3 + 40] == 129 || p->data[l3 + 40] == 136));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct fleet *f = fleet();
	struct packet burst[BURST_MAX];
	uint8_t *copies[BURST_MAX];
	uint32_t sizes[BURST_MAX];
	if (size == 0)
		return 0;
	f->worker.port.trust_checksum = input[0] & TRUSTED;
	f->worker.port.vlan_id = input[0] & TAGGED_ONLY ? 5 : 0;
	f->worker.port.promiscuous_mac = input[0] & PROMISCUOUS;
	uint32_t count_ = take_packets(input + 1, size - 1, burst, copies);
	for (uint32_t i = 0; i < count_; i++)
		sizes[i] = burst[i].size;
	hot_receive(&f->worker, burst, count_);
	for (uint32_t i = 0; i < count_; i++) {
		if (burst[i].verdict == PACKET_REPLY)
			check_answer(f, &burst[i], sizes[i]);
		else
			CHECK(memcmp(burst[i].data, copies[i], sizes[i]) == 0);
		free(burst[i].data);
		free(copies[i]);
	}
	CHECK(fleet_balances(f));
	CHECK(f->counters.heartbeats == 0 && f->counters.requests == 0 && f->report_count == 0);
	CHECK(f->counters.replies == f->counters.neighbours);
	return 0;
}
