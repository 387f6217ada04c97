#include "dataplane/hot/parse.h"
#include "dataplane/hot/headers.h"
#include "dataplane/hot/neighbour.h"
#include "dataplane/hot/silence.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/check.h"

// Results of the steps below besides NEIGHBOUR_ANSWERED and enum hot_refusal.
#define PARSED (-2)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// Finds what the frame carries.
static inline int parse_ethernet(const struct hot_port *port, struct headers *h)
{
	const uint8_t *data = h->data;
	uint32_t size = h->packet->size;
	if (UNLIKELY(size < ETHER_BYTES))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(h->packet->segments > 1))
		return HOT_REFUSED_SEGMENTED;
	if (UNLIKELY(size > ETHER_BYTES_MAX))
		return HOT_REFUSED_OVERSIZED;
	uint64_t to = mac_at(data), from = mac_at(data + 6);
	h->group = mac_is_group(to);
	if (UNLIKELY(to != mac_at(port->mac) && !h->group && !port->promiscuous_mac))
		return HOT_REFUSED_NOT_OURS_MAC;
	if (UNLIKELY(mac_is_group(from) || from == 0))
		return HOT_REFUSED_SOURCE;
	h->l3 = ETHER_BYTES;
	h->ethertype = net16(data + 12);
	if (LIKELY(h->ethertype != ETHERTYPE_VLAN))
		return port->vlan_id == 0 ? PARSED : HOT_REFUSED_VLAN;
	if (size < ETHER_BYTES + VLAN_BYTES)
		return HOT_REFUSED_SHORT;
	h->l3 += VLAN_BYTES;
	h->ethertype = net16(data + 16);
	if (h->ethertype == ETHERTYPE_VLAN || h->ethertype == ETHERTYPE_QINQ)
		return HOT_REFUSED_VLAN;
	uint32_t id = net16(data + 14) & 0xfff;
	return port->vlan_id == 0 || port->vlan_id == id ? PARSED : HOT_REFUSED_VLAN;
}

// True for a host's address, which can be answered: of another machine, if the port's senders are on others.
static inline bool ipv4_can_answer(const struct hot_port *port, const uint8_t *address)
{
	uint8_t first = address[0];
	if (UNLIKELY(first == 0 || first >= 224))
		return false;
	return LIKELY(first != 127 && !port_has_ipv4(port, address)) || port->local_senders;
}

static inline int parse_ipv4(const struct hot_port *port, struct headers *h)
{
	const uint8_t *ip = h->data + h->l3;
	uint32_t left = h->packet->size - h->l3;
	if (UNLIKELY(h->group))
		return HOT_REFUSED_NOT_OURS_MAC;
	if (UNLIKELY(left < IPV4_BYTES))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(ip[0] != 0x45))
		return ip[0] >> 4 == 4 && (ip[0] & 15) > 5 ? HOT_REFUSED_IP_OPTIONS
							   : HOT_REFUSED_IP_HEADER;
	uint32_t total = net16(ip + 2);
	if (UNLIKELY(total < IPV4_BYTES || ip[8] == 0))
		return HOT_REFUSED_IP_HEADER;
	if (UNLIKELY(total > left))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(checksum_fold(checksum_add((struct checksum_sum){0}, ip, IPV4_BYTES)) !=
		     0xffff))
		return HOT_REFUSED_IP_CHECKSUM;
	uint32_t fragment = net16(ip + 6);
	if (UNLIKELY(fragment & 0xbfff)) // all but "don't fragment"
		return fragment & 0x8000 ? HOT_REFUSED_IP_HEADER : HOT_REFUSED_FRAGMENT;
	if (UNLIKELY(!port_has_ipv4(port, ip + 16)))
		return HOT_REFUSED_NOT_OURS_IP;
	if (UNLIKELY(!ipv4_can_answer(port, ip + 12)))
		return HOT_REFUSED_SOURCE;
	h->ipv6 = false;
	h->l4 = h->l3 + IPV4_BYTES;
	h->end = h->l3 + total;
	h->protocol = ip[9];
	return PARSED;
}

static bool ipv6_can_answer(const struct hot_port *port, const uint8_t *address)
{
	bool near_zero = word64(address) == 0 && word32(address + 8) == 0 &&
			 net16(address + 12) == 0 && address[14] == 0 && address[15] <= 1;
	if (address[0] == 0xff || (near_zero && address[15] == 0))
		return false;
	return (!near_zero && !port_has_ipv6(port, address)) || port->local_senders;
}

// True when the destination is ours, or is the solicited-node group of one of ours in a frame to the Ethernet group of
// that name.
static inline bool ipv6_is_for_us(const struct hot_port *port, const struct headers *h)
{
	const uint8_t *data = h->data, *destination = data + h->l3 + 24;
	if (LIKELY(!h->group))
		return port_has_ipv6(port, destination);
	return port_is_solicited(port, destination) && memcmp(data, "\x33\x33\xff", 3) == 0 &&
	       memcmp(data + 3, destination + 13, 3) == 0;
}

static int ipv6_extension(uint8_t next_header)
{
	switch (next_header) {
	case 44: return HOT_REFUSED_FRAGMENT;
	case 0:   // hop by hop
	case 43:  // routing
	case 50:  // security payload
	case 51:  // authentication
	case 60:  // destination options
	case 135: // mobility
	case 139: // host identity
	case 140: // shim
		return HOT_REFUSED_IP_OPTIONS;
	default: return PARSED;
	}
}

static inline int parse_ipv6(const struct hot_port *port, struct headers *h)
{
	const uint8_t *ip = h->data + h->l3;
	uint32_t left = h->packet->size - h->l3;
	if (UNLIKELY(h->group && h->data[0] != 0x33))
		return HOT_REFUSED_NOT_OURS_MAC;
	if (UNLIKELY(left < IPV6_BYTES))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(ip[0] >> 4 != 6 || ip[7] == 0))
		return HOT_REFUSED_IP_HEADER;
	uint32_t payload = net16(ip + 4);
	if (UNLIKELY(payload > left - IPV6_BYTES))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(!ipv6_is_for_us(port, h)))
		return HOT_REFUSED_NOT_OURS_IP;
	if (UNLIKELY(!ipv6_can_answer(port, ip + 8)))
		return HOT_REFUSED_SOURCE;
	h->ipv6 = true;
	h->l4 = h->l3 + IPV6_BYTES;
	h->end = h->l4 + payload;
	h->protocol = ip[6];
	return LIKELY(h->protocol == PROTOCOL_UDP) ? PARSED : ipv6_extension(h->protocol);
}

static inline bool udp_checksum_is_good(
	const struct hot_port *port, const struct headers *h, const uint8_t *udp)
{
	if (port->trust_checksum && h->packet->checksum == PACKET_CHECKSUM_GOOD)
		return true;
	if (net16(udp + 6) == 0)
		return !h->ipv6;
	return checksum_fold(l4_sum(udp, h->end - h->l4, h->ipv6, PROTOCOL_UDP)) == 0xffff;
}

static inline int parse_udp(const struct hot_port *port, const struct headers *h)
{
	const uint8_t *udp = h->data + h->l4;
	uint32_t bytes = h->end - h->l4;
	if (UNLIKELY(h->group))
		return HOT_REFUSED_NOT_OURS_MAC;
	if (UNLIKELY(bytes < UDP_BYTES))
		return HOT_REFUSED_SHORT;
	if (UNLIKELY(net16(udp + 4) != bytes))
		return HOT_REFUSED_UDP_LENGTH;
	if (UNLIKELY(net16(udp + 2) != port->udp_port))
		return HOT_REFUSED_NOT_OURS_PORT;
	if (UNLIKELY(net16(udp) == 0))
		return HOT_REFUSED_SOURCE;
	if (UNLIKELY(bytes > UDP_BYTES + FRAME_BYTES_MAX))
		return HOT_REFUSED_OVERSIZED;
	// The header's length is the length that is there, so the checked sum may count it twice.
	return LIKELY(udp_checksum_is_good(port, h, udp)) ? PARSED : HOT_REFUSED_UDP_CHECKSUM;
}

static int frame_refusal(enum wire_error error)
{
	switch (error) {
	case WIRE_OK: return PARSED;
	case WIRE_SHORT: return HOT_REFUSED_FRAME_SHORT;
	case WIRE_BAD_MAGIC: return HOT_REFUSED_FRAME_MAGIC;
	case WIRE_BAD_VERSION: return HOT_REFUSED_FRAME_VERSION;
	case WIRE_BAD_LENGTH: return HOT_REFUSED_FRAME_LENGTH;
	default: return HOT_REFUSED_FRAME_TYPE;
	}
}

// The first six bytes of nearly every frame: magic, version, HEARTBEAT and its length.
#define HEARTBEAT_START                                                     \
	((uint64_t)WIRE_MAGIC | WIRE_VERSION << 16 | WIRE_HEARTBEAT << 24 | \
		(uint64_t)WIRE_HEARTBEAT_BYTES << 32)

static inline int parse_frame(const struct headers *h, struct frame *f)
{
	f->packet = h->packet;
	f->offset = (uint16_t)(h->l4 + UDP_BYTES);
	f->data = h->data + f->offset;
	f->ipv6 = h->ipv6;
	uint32_t bytes = h->end - f->offset;
	f->kind = FRAME_HEARTBEAT;
	if (UNLIKELY(bytes != WIRE_HEARTBEAT_BYTES ||
		     (load64(f->data) & 0xffffffffffffull) != HEARTBEAT_START)) {
		f->kind = FRAME_OTHER;
		struct wire_header header;
		int refusal = frame_refusal(wire_header_decode(f->data, bytes, &header));
		if (refusal != PARSED)
			return refusal;
		if (header.type & 1) // an answer
			return HOT_REFUSED_FRAME_TYPE;
	}
	return LIKELY(f->data[6] != 0) ? PARSED : HOT_REFUSED_UNKNOWN_KEY;
}

static __attribute__((noinline)) int parse_packet(
	struct hot_worker *w, struct packet *packet, struct frame *frame)
{
	const struct hot_port *port = &w->port;
	struct headers h = {.packet = packet,
		.data = packet->data,
		.pings_left = &w->pings_left,
		.is_unsure = w->is_unsure};
	int result = parse_ethernet(port, &h);
	if (UNLIKELY(result != PARSED))
		return result;
	if (LIKELY(h.ethertype == ETHERTYPE_IPV4))
		result = parse_ipv4(port, &h);
	else if (h.ethertype == ETHERTYPE_IPV6)
		result = parse_ipv6(port, &h);
	else if (h.ethertype == ETHERTYPE_ARP)
		return neighbour_answer(port, h);
	else
		return h.group ? HOT_REFUSED_NOT_OURS_MAC : HOT_REFUSED_ETHERTYPE;
	if (UNLIKELY(result != PARSED))
		return result;
	if (UNLIKELY(h.protocol != PROTOCOL_UDP))
		return neighbour_answer(port, h);
	result = parse_udp(port, &h);
	return LIKELY(result == PARSED) ? parse_frame(&h, frame) : result;
}

// Nearly every packet is an untagged IPv4 heartbeat to our first address, and its first 48 bytes (up to the frame's
// length field) match a pattern. Any other packet goes through the steps above, which name what is wrong.

#define USUAL_OFFSET (ETHER_BYTES + IPV4_BYTES + UDP_BYTES)
#define USUAL_BYTES (USUAL_OFFSET + WIRE_HEARTBEAT_BYTES)
#define USUAL_UDP_BYTES (UDP_BYTES + WIRE_HEARTBEAT_BYTES)
#define PATTERN_BYTES 48u

typedef uint64_t vector __attribute__((vector_size(16)));
#define PATTERN_VECTORS (PATTERN_BYTES / sizeof(vector))

struct pattern {
	vector want[PATTERN_VECTORS];
	vector where[PATTERN_VECTORS]; // the bits that are compared
};

static void pattern_put(
	uint8_t *want, uint8_t *where, uint32_t at, const void *bytes, uint32_t byte_count)
{
	memcpy(want + at, bytes, byte_count);
	memset(where + at, 0xff, byte_count);
}

static void pattern_put16(uint8_t *want, uint8_t *where, uint32_t at, uint32_t value)
{
	uint16_t in_network_order = htobe16((uint16_t)value);
	pattern_put(want, where, at, &in_network_order, 2);
}

// Once per burst. A port without an IPv4 address, or with a VLAN, has no usual packets.
static bool pattern_build(const struct hot_port *port, struct pattern *pattern)
{
	uint8_t want[PATTERN_BYTES] = {0}, where[PATTERN_BYTES] = {0};
	const uint32_t ip = ETHER_BYTES, udp = ETHER_BYTES + IPV4_BYTES;
	const uint8_t frame[6] = {WIRE_MAGIC & 0xff, WIRE_MAGIC >> 8, WIRE_VERSION, WIRE_HEARTBEAT,
		WIRE_HEARTBEAT_BYTES};
	pattern_put(want, where, 0, port->mac, 6);
	where[6] = 1; // not from a group
	pattern_put16(want, where, 12, ETHERTYPE_IPV4);
	pattern_put(want, where, ip, "\x45", 1);
	pattern_put16(want, where, ip + 2, IPV4_BYTES + USUAL_UDP_BYTES);
	pattern_put16(want, where, ip + 6, 0);
	where[ip + 6] = 0xbf; // all but "don't fragment"
	pattern_put(want, where, ip + 9, (uint8_t[]){PROTOCOL_UDP}, 1);
	pattern_put(want, where, ip + 16, port->ipv4[0], 4);
	pattern_put16(want, where, udp + 2, port->udp_port);
	pattern_put16(want, where, udp + 4, USUAL_UDP_BYTES);
	pattern_put(want, where, USUAL_OFFSET, frame, sizeof frame);
	memcpy(pattern->want, want, sizeof want);
	memcpy(pattern->where, where, sizeof where);
	return port->ipv4_count > 0 && port->vlan_id == 0;
}

static inline bool pattern_fits(const struct pattern *pattern, const uint8_t *data)
{
	vector differs = {0};
#pragma GCC unroll 3
	for (uint32_t i = 0; i < PATTERN_VECTORS; i++) {
		vector v;
		memcpy(&v, data + i * sizeof v, sizeof v);
		differs |= (v ^ pattern->want[i]) & pattern->where[i];
	}
	return (differs[0] | differs[1]) == 0;
}

static inline bool usual_packet(
	const struct hot_port *port, const struct pattern *pattern, const struct packet *p)
{
	if (UNLIKELY(p->size - USUAL_BYTES > ETHER_BYTES_MAX - USUAL_BYTES || p->segments > 1))
		return false;
	const uint8_t *ip = p->data + ETHER_BYTES;
	if (UNLIKELY(!pattern_fits(pattern, p->data)))
		return false;
	uint64_t start = word64(ip), middle = word64(ip + 8), udp = word64(ip + IPV4_BYTES);
	uint32_t destination = word32(ip + 16);
	// Source address, source port, hop limit and key id must not be zero.
	if (UNLIKELY(mac_at(p->data + 6) == 0) || UNLIKELY((uint8_t)middle == 0) ||
		UNLIKELY((uint16_t)udp == 0) || UNLIKELY(p->data[USUAL_OFFSET + 6] == 0) ||
		UNLIKELY(!ipv4_can_answer(port, ip + 12)))
		return false;
	struct checksum_sum header =
		checksum_add_word((struct checksum_sum){start, 0}, destination);
	if (UNLIKELY(checksum_fold(checksum_add_word(header, middle)) != 0xffff))
		return false;
	uint64_t rest =
		(middle >> 32) + destination + swapped16(USUAL_UDP_BYTES) + swapped16(PROTOCOL_UDP);
	struct checksum_sum sum = checksum_add_word((struct checksum_sum){rest, 0}, udp);
	sum = checksum_add(sum, p->data + USUAL_OFFSET, WIRE_HEARTBEAT_BYTES);
	return LIKELY(checksum_fold(sum) == 0xffff) || udp >> 48 == 0 ||
	       (port->trust_checksum && p->checksum == PACKET_CHECKSUM_GOOD);
}

static inline void prefetch_node(const struct node_table *table, uint32_t slots_used, uint32_t slot)
{
	if (UNLIKELY(slot >= slots_used))
		return;
	__builtin_prefetch(&table->lines[slot], 1);
	__builtin_prefetch((const void *)&table->last_heard_ms[slot], 1);
}

// Prefetches the node of every packet as if it were a usual one, before anything is checked. Side by side these loads
// overlap; between two packets' checks a processor looks ahead to hardly more than one of them, and waits for its
// translation. A wrong guess costs only the cache line that it brings.
static void prefetch_usual(const struct node_table *table, const struct packet *packets, uint32_t n)
{
	uint32_t used = atomic_load_explicit(&table->slots_used, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++) {
		if (LIKELY(packets[i].size >= USUAL_BYTES))
			prefetch_node(table, used, load32(packets[i].data + USUAL_OFFSET + 8));
	}
}

static void prefetch_frame(const struct node_table *table, const struct frame *f)
{
	uint32_t used = atomic_load_explicit(&table->slots_used, memory_order_relaxed);
	prefetch_node(table, used, load32(f->data + 8));
}

static __attribute__((noinline)) void refuse_packet(
	struct hot_worker *w, const struct packet *packet, enum hot_refusal reason)
{
	bool is_silent = w->silent != NULL && silence_is_asked(w->silent, packet, reason);
	hot_refuse(w, is_silent ? HOT_REFUSED_SERVICE : reason);
}

void parse_burst(
	struct hot_worker *w, struct packet *packets, uint32_t packet_count, struct burst *b)
{
	uint32_t answered = 0, kept = 0;
	struct pattern pattern;
	bool usual = pattern_build(&w->port, &pattern);
	prefetch_usual(w->table, packets, packet_count);
	for (uint32_t i = 0; i < packet_count; i++) {
		struct packet *p = &packets[i];
		p->verdict = PACKET_DROP;
		if (LIKELY(usual && usual_packet(&w->port, &pattern, p))) {
			b->frames[kept++] = (struct frame){
				p, p->data + USUAL_OFFSET, USUAL_OFFSET, false, FRAME_HEARTBEAT};
			continue;
		}
		int result = parse_packet(w, p, &b->frames[kept]);
		if (result == PARSED) {
			prefetch_frame(w->table, &b->frames[kept++]);
		} else if (result == NEIGHBOUR_ANSWERED) {
			p->verdict = PACKET_REPLY;
			answered++;
		} else {
			refuse_packet(w, p, (enum hot_refusal)result);
		}
	}
	b->count = kept;
	if (answered > 0) {
		counter_add(&w->counters->neighbours, answered);
		counter_add(&w->counters->replies, answered);
	}
}
