#include "dataplane/requests/follow.h"
#include "dataplane/hot/parse.h"
#include "dataplane/hot/reply.h"
#include "dataplane/hot/sender.h"
#include "dataplane/requests/sender_keys.h"
#include "dataplane/wire/little_endian.h"

// A reader that meets a writer says nothing of the leader: the version is odd then, or another one afterwards.
void follow_set_leader(struct leader_place *place, const struct wire_endpoint *leader)
{
	uint64_t words[2];
	memcpy(words, leader->address, sizeof words);
	uint32_t version = atomic_load_explicit(&place->version, memory_order_relaxed);
	atomic_store_explicit(&place->version, version + 1, memory_order_relaxed);
	for (uint32_t i = 0; i < 2; i++)
		atomic_store_explicit(&place->address[i], words[i], memory_order_release);
	atomic_store_explicit(&place->port, leader->port, memory_order_release);
	atomic_store_explicit(&place->version, version + 2, memory_order_release);
}

static struct wire_endpoint leader_now(struct leader_place *place)
{
	struct wire_endpoint leader = {.port = 0};
	uint64_t words[2];
	uint32_t version = atomic_load_explicit(&place->version, memory_order_acquire);
	for (uint32_t i = 0; i < 2; i++)
		words[i] = atomic_load_explicit(&place->address[i], memory_order_acquire);
	uint16_t port = atomic_load_explicit(&place->port, memory_order_acquire);
	if (version % 2 != 0 ||
		version != atomic_load_explicit(&place->version, memory_order_relaxed))
		return leader;
	memcpy(leader.address, words, sizeof leader.address);
	leader.port = port;
	return leader;
}

// The key of the node that has the slot in what this follower has seen of the log. Another node's frame does not verify
// under it.
static enum hot_key slot_key(
	const struct packet_workers *team, const struct wire_header *header, struct wire_key *key)
{
	const struct node *node = state_node_at(team->state, header->slot);
	return node == NULL ? HOT_KEY_NONE : sender_node_key(team, &node->id, header->key_id, key);
}

// Returns -1 with the key, or an enum hot_refusal.
static int find_key(struct packet_worker *w, const struct frame *f,
	const struct wire_header *header, struct wire_key *key)
{
	if (!sender_is_a_slot(header->type))
		return sender_key_find(&w->hot, f, header, key);
	if (header->slot >= state_node_slots(w->team->state))
		return HOT_REFUSED_UNKNOWN_SLOT;
	switch (slot_key(w->team, header, key)) {
	case HOT_KEY_FOUND: return -1;
	case HOT_KEY_REVOKED: return HOT_REFUSED_REVOKED;
	default: return HOT_REFUSED_UNKNOWN_KEY;
	}
}

// A follower touches no node's line, so that the buckets of all keys are those that keys without a line have.
static bool is_within_rate(struct packet_worker *w, uint8_t type, const struct wire_key *key)
{
	struct packet_workers *team = w->team;
	bool is_of_node = sender_is_a_slot(type) || type == WIRE_REGISTER;
	return key_buckets_take(is_of_node ? &team->register_buckets : &team->client_buckets, key,
		       is_of_node ? &team->node_rule : &team->client_rule, 1, w->hot.turn_ns) == 0;
}

static void refuse_as_follower(struct packet_worker *w, const struct frame *f,
	const struct wire_header *header, const struct wire_key *key)
{
	struct wire_refused refused = {.request_type = header->type,
		.reason = WIRE_REFUSED_NOT_LEADER,
		.leader = leader_now(&w->team->leader)};
	refused.retry_after_ms = refused.leader.port == 0 ? RETRY_NOT_LEADER_MS : 0;
	hot_refuse(&w->hot, HOT_REFUSED_NOT_LEADER);
	uint32_t bytes = refusal_encode(f->data, header, key, &refused);
	if (bytes == 0)
		return;
	hot_turn_around(&w->hot, f->packet, f->offset, bytes);
	f->packet->verdict = PACKET_REPLY;
	counter_add(&w->counters.replies, 1);
}

static void follow_frame(struct packet_worker *w, const struct frame *f)
{
	struct wire_header header;
	struct wire_key key;
	if (wire_header_decode(f->data, load16(f->data + 4), &header) != WIRE_OK)
		return; // the first pass said that it is one
	if (w->follows_left == 0) {
		hot_refuse(&w->hot, HOT_REFUSED_FOLLOW_RATE);
		return;
	}
	w->follows_left--;
	int refusal = find_key(w, f, &header, &key);
	if (refusal >= 0)
		hot_refuse(&w->hot, (enum hot_refusal)refusal);
	else if (!wire_verify(&key, f->data, header.length))
		hot_refuse(&w->hot, HOT_REFUSED_BAD_TAG);
	else if (!is_within_rate(w, header.type, &key))
		hot_refuse(&w->hot, HOT_REFUSED_REQUEST_RATE);
	else
		refuse_as_follower(w, f, &header, &key);
}

void follow_receive(struct packet_worker *w, struct packet *packets, uint32_t packet_count)
{
	struct burst b;
	counter_add(&w->counters.received, packet_count);
	parse_burst(&w->hot, packets, packet_count, &b);
	for (uint32_t i = 0; i < b.count; i++)
		follow_frame(w, &b.frames[i]);
}
