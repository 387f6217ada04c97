#include "tests/dataplane/hot/fleet.h"
#include "state/base/check.h"
#include <stdlib.h>

struct uuid fleet_uuid(uint32_t slot)
{
	struct uuid id = {{0x8b, 0xad, 0xf0, 0x0d}};
	memcpy(id.bytes + 12, &slot, sizeof slot);
	return id;
}

static enum hot_key found(const struct fleet *f, bool is_derived)
{
	return f->all_are_revoked ? HOT_KEY_REVOKED : is_derived ? HOT_KEY_FOUND : HOT_KEY_NONE;
}

static enum hot_key node_key(
	void *context, uint32_t slot, uint32_t generation, uint8_t key_id, struct wire_key *key)
{
	struct fleet *f = context;
	struct uuid id = fleet_uuid(slot);
	f->keys_derived++;
	return found(f, slot < FLEET_NODES && generation == slot + 1 &&
				node_key_derive(&f->masters, key_id, &id, key));
}

static enum hot_key uuid_key(
	void *context, const struct uuid *id, uint8_t key_id, struct wire_key *key)
{
	struct fleet *f = context;
	f->keys_derived++;
	return found(f, node_key_derive(&f->masters, key_id, id, key));
}

static enum hot_key client_key(
	void *context, struct text name, uint8_t key_id, struct wire_key *key)
{
	struct fleet *f = context;
	f->keys_derived++;
	return found(f, client_key_derive(&f->masters, key_id, name, key));
}

static bool report(struct fleet *f, struct report r)
{
	if (f->reports_left == 0)
		return false;
	f->reports_left--;
	CHECK(f->report_count < FLEET_REPORTS_MAX);
	f->reports[f->report_count++] = r;
	return true;
}

static bool returned(void *context, uint32_t slot, uint32_t generation)
{
	return report(context, (struct report){REPORT_RETURNED, slot, generation, {0}, 0});
}

static bool expired(void *context, uint32_t slot, uint32_t generation)
{
	return report(context, (struct report){REPORT_EXPIRED, slot, generation, {0}, 0});
}

static enum packet_verdict request(void *context, struct hot_frame *frame)
{
	struct fleet *f = context;
	struct report r = {REPORT_REQUEST, frame->header.slot, frame->header.generation,
		frame->header, frame->offset};
	CHECK(wire_verify(&frame->key, frame->packet->data + frame->offset, frame->header.length));
	if (!report(f, r)) {
		counter_add(&f->counters.refused[HOT_REFUSED_REQUESTS_FULL], 1);
		return PACKET_DROP;
	}
	counter_add(&f->counters.requests, 1);
	if (!f->requests_answered)
		return PACKET_DROP;
	hot_turn_around(&f->worker, frame->packet, frame->offset, frame->header.length);
	return PACKET_REPLY;
}

static void fill_line(struct node_table *table, uint32_t slot)
{
	struct node_line *line = &table->lines[slot];
	line->generation = slot + 1;
	line->alloc_index = 100 + slot;
	line->directives = slot % 3 == 0 ? WIRE_DIRECTIVE_DRAIN : 0;
}

struct fleet *fleet_create(void)
{
	struct fleet *f = aligned_alloc(64, (sizeof *f + 63) / 64 * 64);
	CHECK(f != NULL);
	memset(f, 0, sizeof *f);
	f->table = node_table_create(FLEET_SLOTS);
	CHECK(f->table != NULL);
	f->table->term = FLEET_TERM;
	f->table->term_index = FLEET_TERM_INDEX;
	f->table->slots_used = FLEET_NODES + 1; // one slot that was never given out
	f->table->block_owner[0] = 0;
	f->masters.count = 2;
	for (uint8_t i = 0; i < 2; i++) {
		f->masters.keys[i].id = (uint8_t)(i + 1);
		memset(f->masters.keys[i].bytes, 0x40 + i, MASTER_KEY_BYTES);
	}
	f->reports_left = UINT32_MAX;
	f->worker = (struct hot_worker){.port = test_port(),
		.pings_left = UINT32_MAX,
		.table = f->table,
		.counters = &f->counters,
		.ttl_ms = FLEET_TTL_MS,
		.now_ms = 1000};
	f->worker.up =
		(struct hot_upcalls){f, node_key, uuid_key, client_key, request, returned, expired};
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++) {
		fill_line(f->table, slot);
		liveness_arm(f->table, slot, f->worker.now_ms);
	}
	return f;
}

void fleet_destroy(struct fleet *f)
{
	node_table_destroy(f->table);
	free(f);
}

struct wire_key fleet_key(const struct fleet *f, uint32_t slot, uint8_t key_id)
{
	struct wire_key key;
	struct uuid id = fleet_uuid(slot);
	CHECK(node_key_derive(&f->masters, key_id, &id, &key));
	return key;
}

struct wire_header fleet_header(uint32_t slot, uint64_t sequence)
{
	return (struct wire_header){
		.key_id = 1, .slot = slot, .generation = slot + 1, .sequence = sequence};
}

uint32_t fleet_heartbeat(const struct fleet *f, uint32_t slot, uint64_t sequence, uint8_t *frame)
{
	struct wire_heartbeat beat = {.term = FLEET_TERM, .alloc_index = 3, .load_permille = 250};
	uint32_t bytes =
		wire_heartbeat_encode(frame, FRAME_BYTES_MAX, fleet_header(slot, sequence), &beat);
	struct wire_key key = fleet_key(f, slot, 1);
	wire_sign(&key, frame, bytes);
	return bytes;
}

struct packet fleet_receive(struct fleet *f, uint8_t *data, uint32_t size)
{
	struct packet p = {.data = data, .size = size, .capacity = PACKET_BYTES_MAX, .segments = 1};
	hot_receive(&f->worker, &p, 1);
	return p;
}

uint64_t fleet_refused(const struct fleet *f, enum hot_refusal reason)
{
	return f->counters.refused[reason];
}

uint64_t fleet_refused_all(const struct fleet *f)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < HOT_REFUSED_KINDS; i++)
		sum += f->counters.refused[i];
	return sum;
}

bool fleet_balances(const struct fleet *f)
{
	return f->counters.received == fleet_refused_all(f) + f->counters.heartbeats +
					       f->counters.requests + f->counters.neighbours;
}
