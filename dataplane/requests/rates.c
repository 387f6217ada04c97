#include "dataplane/requests/rates.h"
#include "state/base/time_units.h"

// Where a placement's count is, behind the client's name: after issued_ms and request.
#define PLACE_COUNT_OFFSET 16u

static bool is_of_client(uint8_t type)
{
	return type == WIRE_PLACE || type == WIRE_RELEASE || type == WIRE_STATUS;
}

// A placement costs as much as it asks for, and so does a release; what does not parse, and all else, costs one.
static uint32_t tokens_of(const uint8_t *frame, const struct wire_header *h)
{
	uint32_t at = WIRE_HEADER_BYTES + 1u + frame[WIRE_HEADER_BYTES];
	if (h->type == WIRE_PLACE)
		at += PLACE_COUNT_OFFSET;
	else if (h->type != WIRE_RELEASE)
		return 1;
	if (at >= h->length - WIRE_TAG_BYTES || frame[at] == 0)
		return 1;
	return frame[at] < PLACE_COUNT_MAX ? frame[at] : PLACE_COUNT_MAX;
}

static uint64_t take_tokens(struct packet_worker *w, const struct hot_frame *f)
{
	struct packet_workers *team = w->team;
	const uint8_t *frame = f->packet->data + f->offset;
	uint64_t now_ns = w->hot.turn_ns;
	if (is_of_client(f->header.type))
		return key_buckets_take(&team->client_buckets, &f->key, &team->client_rule,
			tokens_of(frame, &f->header), now_ns);
	if (f->header.type == WIRE_REGISTER)
		return key_buckets_take(
			&team->register_buckets, &f->key, &team->node_rule, 1, now_ns);
	struct node_line *line = node_table_line(w->hot.table, f->header.slot);
	return line == NULL ? 0 : bucket_take(&line->bucket, &team->node_rule, 1, now_ns);
}

static void count_node(struct packet_worker *w, uint64_t key, const struct uuid *id)
{
	char name[UUID_TEXT_BYTES];
	noisy_add(&w->noisy, key, NOISY_NODE, text_of(uuid_format(id, name)), w->hot.turn_ns);
}

static void count_node_at(struct packet_worker *w, uint64_t key, uint32_t slot)
{
	const struct node *node = state_node_at(w->team->state, slot);
	if (node != NULL)
		count_node(w, key, &node->id);
}

static void count_sender(struct packet_worker *w, const struct hot_frame *f)
{
	const uint8_t *frame = f->packet->data + f->offset;
	uint64_t key = f->key.k[0];
	struct text client;
	struct uuid id;
	if (noisy_again(&w->noisy, key, w->hot.turn_ns))
		return;
	if (f->header.type == WIRE_REGISTER) {
		memcpy(&id, frame + WIRE_HEADER_BYTES, sizeof id);
		count_node(w, key, &id);
	} else if (!is_of_client(f->header.type)) {
		count_node_at(w, key, f->header.slot);
	} else if (wire_client_decode(frame, &f->header, &client)) {
		noisy_add(&w->noisy, key, NOISY_CLIENT, client, w->hot.turn_ns);
	}
}

uint32_t rates_wait_ms(struct packet_worker *w, const struct hot_frame *f)
{
	uint64_t wait_ns = take_tokens(w, f);
	if (wait_ns == 0)
		return 0;
	counter_add(&w->counters.refused[HOT_REFUSED_REQUEST_RATE], 1);
	count_sender(w, f);
	uint64_t wait_ms = wait_ns / NS_PER_MS + 1;
	return wait_ms < UINT32_MAX ? (uint32_t)wait_ms : UINT32_MAX;
}

void rates_beat_refused(struct packet_worker *w, uint32_t slot, const struct wire_key *key)
{
	if (!noisy_again(&w->noisy, key->k[0], w->hot.turn_ns))
		count_node_at(w, key->k[0], slot);
}
