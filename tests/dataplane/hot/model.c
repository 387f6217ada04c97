#include "tests/dataplane/hot/model.h"
#include "dataplane/hot/liveness.h"
#include "dataplane/wire/wire.h"

struct view {
	const uint8_t *data;
	uint32_t size, l3, l4, end;
	bool ipv6;
};

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static bool all_zero(const uint8_t *p, uint32_t count_)
{
	for (uint32_t i = 0; i < count_; i++)
		if (p[i])
			return false;
	return true;
}

static bool ours(const struct hot_port *port, const uint8_t *address, bool ipv6)
{
	for (uint32_t i = 0; i < (ipv6 ? port->ipv6_count : port->ipv4_count); i++)
		if (memcmp(ipv6 ? port->ipv6[i] : port->ipv4[i], address, ipv6 ? 16 : 4) == 0)
			return true;
	return false;
}

static bool solicited(const struct hot_port *port, const uint8_t *address)
{
	static const uint8_t prefix[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
	for (uint32_t i = 0; i < port->ipv6_count; i++)
		if (memcmp(prefix, address, 13) == 0 &&
			memcmp(port->ipv6[i] + 13, address + 13, 3) == 0)
			return true;
	return false;
}

static int model_ipv4(const struct hot_port *port, struct view *v)
{
	const uint8_t *ip = v->data + v->l3;
	uint32_t left = v->size - v->l3;
	if (v->data[0] & 1)
		return HOT_REFUSED_NOT_OURS_MAC;
	if (left < 20)
		return HOT_REFUSED_SHORT;
	if (ip[0] >> 4 != 4 || (ip[0] & 15) < 5)
		return HOT_REFUSED_IP_HEADER;
	if ((ip[0] & 15) > 5)
		return HOT_REFUSED_IP_OPTIONS;
	if (be16(ip + 2) < 20 || ip[8] == 0)
		return HOT_REFUSED_IP_HEADER;
	if (be16(ip + 2) > left)
		return HOT_REFUSED_SHORT;
	if (naive_checksum(0, ip, 20) != 0)
		return HOT_REFUSED_IP_CHECKSUM;
	if (ip[6] & 0x80)
		return HOT_REFUSED_IP_HEADER;
	if ((be16(ip + 6) & 0x3fff) != 0)
		return HOT_REFUSED_FRAGMENT;
	if (!ours(port, ip + 16, false))
		return HOT_REFUSED_NOT_OURS_IP;
	if (ip[12] == 0 || ip[12] >= 224)
		return HOT_REFUSED_SOURCE;
	if (!port->local_senders && (ip[12] == 127 || ours(port, ip + 12, false)))
		return HOT_REFUSED_SOURCE;
	v->l4 = v->l3 + 20;
	v->end = v->l3 + be16(ip + 2);
	if (ip[9] == 1)
		return HOT_REFUSED_ICMP;
	return ip[9] == 17 ? -1 : HOT_REFUSED_PROTOCOL;
}

static int model_ipv6(const struct hot_port *port, struct view *v)
{
	const uint8_t *ip = v->data + v->l3;
	uint32_t left = v->size - v->l3;
	bool group = v->data[0] & 1;
	v->ipv6 = true;
	if (group && v->data[0] != 0x33)
		return HOT_REFUSED_NOT_OURS_MAC;
	if (left < 40)
		return HOT_REFUSED_SHORT;
	if (ip[0] >> 4 != 6 || ip[7] == 0)
		return HOT_REFUSED_IP_HEADER;
	if (40 + be16(ip + 4) > left)
		return HOT_REFUSED_SHORT;
	const uint8_t group_mac[6] = {0x33, 0x33, 0xff, ip[37], ip[38], ip[39]};
	if (group ? !solicited(port, ip + 24) || memcmp(v->data, group_mac, 6) != 0
		  : !ours(port, ip + 24, true))
		return HOT_REFUSED_NOT_OURS_IP;
	if (all_zero(ip + 8, 16) || ip[8] == 0xff)
		return HOT_REFUSED_SOURCE;
	bool is_loopback = all_zero(ip + 8, 15) && ip[23] == 1;
	if (!port->local_senders && (is_loopback || ours(port, ip + 8, true)))
		return HOT_REFUSED_SOURCE;
	v->l4 = v->l3 + 40;
	v->end = v->l4 + be16(ip + 4);
	static const uint8_t extensions[] = {0, 43, 50, 51, 60, 135, 139, 140};
	if (ip[6] == 44)
		return HOT_REFUSED_FRAGMENT;
	if (memchr(extensions, ip[6], sizeof extensions))
		return HOT_REFUSED_IP_OPTIONS;
	if (ip[6] == 58)
		return v->end - v->l4 < 8 ? HOT_REFUSED_SHORT : HOT_REFUSED_ICMP;
	if (ip[6] != 17)
		return HOT_REFUSED_PROTOCOL;
	return group ? HOT_REFUSED_NOT_OURS_MAC : -1;
}

static int model_ethernet(const struct hot_port *port, const struct packet *p, struct view *v)
{
	if (v->size < 14)
		return HOT_REFUSED_SHORT;
	if (p->segments > 1)
		return HOT_REFUSED_SEGMENTED;
	if (v->size > 1518)
		return HOT_REFUSED_OVERSIZED;
	bool group = v->data[0] & 1;
	if (!group && memcmp(v->data, port->mac, 6) != 0 && !port->promiscuous_mac)
		return HOT_REFUSED_NOT_OURS_MAC;
	if (v->data[6] & 1 || all_zero(v->data + 6, 6))
		return HOT_REFUSED_SOURCE;
	v->l3 = 14;
	uint32_t type = be16(v->data + 12), vlan = 0;
	if (type == 0x8100) {
		if (v->size < 18)
			return HOT_REFUSED_SHORT;
		v->l3 = 18;
		vlan = be16(v->data + 14) & 0xfff;
		type = be16(v->data + 16);
		if (type == 0x8100 || type == 0x88a8)
			return HOT_REFUSED_VLAN;
	}
	if (port->vlan_id != 0 && (v->l3 != 18 || vlan != port->vlan_id))
		return HOT_REFUSED_VLAN;
	if (type == 0x0800)
		return model_ipv4(port, v);
	if (type == 0x86dd)
		return model_ipv6(port, v);
	if (type == 0x0806)
		return v->size < v->l3 + 28 ? HOT_REFUSED_SHORT : HOT_REFUSED_ARP;
	return group ? HOT_REFUSED_NOT_OURS_MAC : HOT_REFUSED_ETHERTYPE;
}

static int model_udp(const struct hot_port *port, const struct packet *p, const struct view *v)
{
	const uint8_t *udp = v->data + v->l4;
	uint32_t bytes = v->end - v->l4;
	if (bytes < 8)
		return HOT_REFUSED_SHORT;
	if (be16(udp + 4) != bytes)
		return HOT_REFUSED_UDP_LENGTH;
	if (be16(udp + 2) != port->udp_port)
		return HOT_REFUSED_NOT_OURS_PORT;
	if (be16(udp) == 0)
		return HOT_REFUSED_SOURCE;
	if (bytes > 8 + FRAME_BYTES_MAX)
		return HOT_REFUSED_OVERSIZED;
	if (port->trust_checksum && p->checksum == PACKET_CHECKSUM_GOOD)
		return -1;
	if (be16(udp + 6) == 0)
		return v->ipv6 ? HOT_REFUSED_UDP_CHECKSUM : -1;
	uint32_t sum = naive_pseudo_sum(v->data + v->l3, v->ipv6, 17, bytes);
	return naive_checksum(sum, udp, bytes) == 0 ? -1 : HOT_REFUSED_UDP_CHECKSUM;
}

static int model_frame(const uint8_t *frame, uint32_t bytes, struct wire_header *h)
{
	switch (wire_header_decode(frame, bytes, h)) {
	case WIRE_OK: break;
	case WIRE_SHORT: return HOT_REFUSED_FRAME_SHORT;
	case WIRE_BAD_MAGIC: return HOT_REFUSED_FRAME_MAGIC;
	case WIRE_BAD_VERSION: return HOT_REFUSED_FRAME_VERSION;
	case WIRE_BAD_LENGTH: return HOT_REFUSED_FRAME_LENGTH;
	default: return HOT_REFUSED_FRAME_TYPE;
	}
	if (h->type % 2 == 1)
		return HOT_REFUSED_FRAME_TYPE;
	return h->key_id == 0 ? HOT_REFUSED_UNKNOWN_KEY : -1;
}

// The request's route, so that the reply can be built from scratch.
static struct route route_back(const struct view *v)
{
	const uint8_t *ip = v->data + v->l3, *udp = v->data + v->l4;
	struct route r = {.ipv6 = v->ipv6, .vlan = v->l3 == 18};
	r.vlan_tag = (uint16_t)be16(v->data + 14);
	memcpy(r.source_mac, test_port().mac, 6);
	memcpy(r.mac, v->data + 6, 6);
	memcpy(r.source_ipv4, ip + 16, 4);
	memcpy(r.ipv4, ip + 12, 4);
	if (v->ipv6) {
		memcpy(r.source_ipv6, ip + 24, 16);
		memcpy(r.address_ipv6, ip + 8, 16);
	}
	r.source_port = (uint16_t)be16(udp + 2);
	r.port = (uint16_t)be16(udp);
	return r;
}

static uint32_t model_reply(struct model *m, const struct view *v, const struct wire_key *key,
	uint8_t *frame, uint32_t bytes, uint8_t *reply)
{
	struct route r = route_back(v);
	wire_sign(key, frame, bytes);
	uint32_t size = udp_build(&r, frame, bytes, reply);
	uint8_t *ip = reply + route_l3(&r);
	if (r.ipv6) {
		const uint8_t start[4] = {0x60};
		memcpy(ip, start, 4);
		ip[7] = 64;
	} else {
		ip[1] = ip[4] = ip[5] = 0;
		ip[8] = 64;
		ipv4_checksum_fix(ip);
	}
	m->replies++;
	return size;
}

static uint32_t model_refuse(struct model *m, const struct view *v, const struct wire_header *h,
	const struct wire_key *key, enum wire_refusal reason, uint8_t *reply)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_refused refused = {.request_type = h->type, .reason = (uint8_t)reason};
	uint32_t bytes = wire_refused_encode(frame, h->length, *h, &refused);
	return bytes == 0 ? 0 : model_reply(m, v, key, frame, bytes, reply);
}

static uint32_t model_acknowledge(struct model *m, const struct view *v, struct wire_header h,
	const struct wire_key *key, uint32_t directives, uint8_t *reply)
{
	uint8_t frame[FRAME_BYTES_MAX];
	h.type = WIRE_HEARTBEAT_ACK;
	if (h.slot % 3 == 0)
		directives |= WIRE_DIRECTIVE_DRAIN;
	struct wire_heartbeat_ack ack = {FLEET_TERM, 100 + h.slot, FLEET_TTL_MS, directives};
	uint32_t bytes = wire_heartbeat_ack_encode(frame, sizeof frame, h, &ack);
	return model_reply(m, v, key, frame, bytes, reply);
}

static bool model_fresh(struct model_node *n, uint64_t sequence)
{
	if (sequence + 64 <= n->highest || n->seen[sequence])
		return false;
	n->seen[sequence] = true;
	if (sequence > n->highest)
		n->highest = sequence;
	return true;
}

static void model_heard(struct model *m, struct model_node *n)
{
	if (n->down && m->reports_left == 0) {
		m->deferred++;
		n->heard_ms = m->now_ms - LIVENESS_HEARD_ELSEWHERE_MS;
		return;
	}
	if (n->down) {
		m->reports_left--;
		m->returned++;
	}
	n->down = false;
	n->heard_ms = m->now_ms;
}

// A heartbeat that comes too soon takes a token; they come back one by one.
static bool model_may_be_early(const struct model *m, struct model_node *n)
{
	for (; n->tokens < MODEL_BURST && m->now_ms - n->tokens_ms >= MODEL_TOKEN_MS; n->tokens++)
		n->tokens_ms += MODEL_TOKEN_MS;
	if (n->tokens == 0)
		return false;
	if (n->tokens == MODEL_BURST)
		n->tokens_ms = m->now_ms;
	n->tokens--;
	return true;
}

static int model_node_frame(struct model *m, const struct view *v, const struct wire_header *h,
	uint8_t *reply, uint32_t *reply_bytes)
{
	const uint8_t *frame = v->data + v->l4 + 8;
	if (h->slot > FLEET_NODES || m->nodes[h->slot].generation == 0)
		return HOT_REFUSED_UNKNOWN_SLOT;
	struct model_node *n = &m->nodes[h->slot];
	if (h->key_id > 2)
		return HOT_REFUSED_UNKNOWN_KEY;
	struct wire_key key = fleet_key(m->fleet, h->slot, h->key_id);
	if (!wire_verify(&key, frame, h->length))
		return HOT_REFUSED_BAD_TAG;
	n->key_id = h->key_id;
	if (h->generation != n->generation) {
		*reply_bytes = model_refuse(m, v, h, &key, WIRE_REFUSED_STALE_GENERATION, reply);
		return HOT_REFUSED_STALE_GENERATION;
	}
	struct wire_heartbeat beat;
	if (h->type == WIRE_HEARTBEAT && !wire_heartbeat_decode(frame, &beat)) {
		*reply_bytes = model_refuse(m, v, h, &key, WIRE_REFUSED_BAD_REQUEST, reply);
		return HOT_REFUSED_BAD_BODY;
	}
	if (h->type == WIRE_HEARTBEAT && beat.term != FLEET_TERM &&
		beat.alloc_index > FLEET_TERM_INDEX) {
		*reply_bytes = model_refuse(m, v, h, &key, WIRE_REFUSED_STALE_GENERATION, reply);
		return HOT_REFUSED_STALE_GENERATION;
	}
	if (h->type == WIRE_HEARTBEAT && beat.term != FLEET_TERM) {
		*reply_bytes = model_acknowledge(m, v, *h, &key, WIRE_DIRECTIVE_RESYNC, reply);
		return HOT_REFUSED_STALE_TERM;
	}
	bool of_allocations = h->type >= WIRE_ALLOC_UPDATE; // asked as often as one likes
	if (!of_allocations && !model_fresh(n, h->sequence))
		return HOT_REFUSED_REPLAY;
	if (h->type == WIRE_GOODBYE)
		for (uint64_t before = 0; before < h->sequence; before++)
			n->seen[before] = true;
	if (of_allocations || h->type == WIRE_GOODBYE) {
		if (m->reports_left == 0)
			return HOT_REFUSED_REQUESTS_FULL;
		m->reports_left--;
		m->requests++;
		return -1;
	}
	if (m->now_ms - n->heard_ms < MODEL_EARLY_MS && !model_may_be_early(m, n))
		return HOT_REFUSED_BEAT_RATE;
	model_heard(m, n);
	m->heartbeats++;
	*reply_bytes = model_acknowledge(m, v, *h, &key, 0, reply);
	return -1;
}

// The test sends no registrations and no client's frames: what became one by accident has no right tag.
static int model_forged_frame(
	const struct model *m, const uint8_t *frame, const struct wire_header *h)
{
	struct text client;
	struct uuid node;
	struct wire_key key;
	bool known;
	if (h->type == WIRE_REGISTER) {
		if (h->length < WIRE_REGISTER_BYTES_MIN)
			return HOT_REFUSED_FRAME_LENGTH;
		memcpy(&node, frame + 24, sizeof node);
		known = node_key_derive(&m->fleet->masters, h->key_id, &node, &key);
	} else {
		if (!wire_client_decode(frame, h, &client))
			return HOT_REFUSED_FRAME_LENGTH;
		known = client_key_derive(&m->fleet->masters, h->key_id, client, &key);
	}
	return known ? HOT_REFUSED_BAD_TAG : HOT_REFUSED_UNKNOWN_KEY;
}

void model_start(struct model *m, const struct fleet *f)
{
	*m = (struct model){
		.fleet = f, .reports_left = f->reports_left, .now_ms = f->worker.now_ms};
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++) {
		m->nodes[slot].generation = slot + 1;
		m->nodes[slot].heard_ms = f->worker.now_ms;
		m->nodes[slot].tokens = MODEL_BURST;
	}
}

uint32_t model_receive(struct model *m, const struct packet *p, uint8_t *reply)
{
	const struct hot_port *port = &m->fleet->worker.port;
	struct view v = {.data = p->data, .size = p->size};
	struct wire_header h;
	uint32_t reply_bytes = 0;
	m->received++;
	int refused = model_ethernet(port, p, &v);
	if (refused < 0)
		refused = model_udp(port, p, &v);
	if (refused < 0)
		refused = model_frame(v.data + v.l4 + 8, v.end - v.l4 - 8, &h);
	if (refused < 0 &&
		(h.type == WIRE_HEARTBEAT || h.type == WIRE_GOODBYE || h.type >= WIRE_ALLOC_UPDATE))
		refused = model_node_frame(m, &v, &h, reply, &reply_bytes);
	else if (refused < 0)
		refused = model_forged_frame(m, v.data + v.l4 + 8, &h);
	if (refused >= 0)
		m->refused[refused]++;
	return reply_bytes;
}
