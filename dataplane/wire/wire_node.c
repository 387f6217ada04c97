// A node's messages. HEARTBEAT and its answer are on the hot path: fixed offsets, no reader.
#include "dataplane/wire/frame.h"
#include "dataplane/wire/little_endian.h"
#include "dataplane/wire/wire.h"

bool wire_heartbeat_decode(const uint8_t *frame, struct wire_heartbeat *hb)
{
	if (load16(frame + 4) != WIRE_HEARTBEAT_BYTES)
		return false;
	hb->term = load64(frame + 24);
	hb->alloc_index = load64(frame + 32);
	hb->load_permille = load32(frame + 40);
	return load32(frame + 44) == 0;
}

// The frame of 64 bytes that most node messages are: header, 24 bytes of body, an empty tag.
static uint32_t encode_small(uint8_t *frame, uint32_t size, struct wire_header header, uint64_t a,
	uint64_t b, uint32_t c, uint32_t d)
{
	if (size < WIRE_HEARTBEAT_BYTES)
		return 0;
	header.length = WIRE_HEARTBEAT_BYTES;
	wire_header_encode(frame, &header);
	store64(frame + 24, a);
	store64(frame + 32, b);
	store32(frame + 40, c);
	store32(frame + 44, d);
	memset(frame + 48, 0, WIRE_TAG_BYTES);
	return WIRE_HEARTBEAT_BYTES;
}

uint32_t wire_heartbeat_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_heartbeat *hb)
{
	header.type = WIRE_HEARTBEAT;
	return encode_small(frame, size, header, hb->term, hb->alloc_index, hb->load_permille, 0);
}

bool wire_heartbeat_ack_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_heartbeat_ack *ack)
{
	if (header->length != WIRE_HEARTBEAT_BYTES)
		return false;
	ack->term = load64(frame + 24);
	ack->alloc_index = load64(frame + 32);
	ack->ttl_ms = load32(frame + 40);
	ack->directives = load16(frame + 44);
	ack->line_port = load16(frame + 46);
	return true;
}

uint32_t wire_heartbeat_ack_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_heartbeat_ack *ack)
{
	return encode_small(frame, size, header, ack->term, ack->alloc_index, ack->ttl_ms,
		ack->directives | (uint32_t)ack->line_port << 16);
}

uint32_t wire_goodbye_encode(uint8_t *frame, uint32_t size, struct wire_header header)
{
	return encode_small(frame, size, header, 0, 0, 0, 0);
}

bool wire_goodbye_decode(const uint8_t *frame, const struct wire_header *header)
{
	struct bytes_reader r = body_reader(frame, header);
	return header->length == WIRE_HEARTBEAT_BYTES && body_complete(&r);
}

bool wire_readiness_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_readiness *readiness)
{
	struct bytes_reader r = body_reader(frame, header);
	uint32_t ready = bytes_take_u32(&r); // with the reserved bytes
	readiness->ready = ready == 1;
	readiness->backoff_ms = bytes_take_u32(&r);
	return header->length == WIRE_HEARTBEAT_BYTES && body_complete(&r) && ready <= 1;
}

uint32_t wire_readiness_encode(uint8_t *frame, uint32_t size, struct wire_header header,
	const struct wire_readiness *readiness)
{
	header.type = WIRE_READINESS;
	return encode_small(frame, size, header,
		(uint64_t)readiness->ready | (uint64_t)readiness->backoff_ms << 32, 0, 0, 0);
}

bool wire_readiness_taken_decode(
	const uint8_t *frame, const struct wire_header *header, uint64_t *index)
{
	struct bytes_reader r = body_reader(frame, header);
	*index = bytes_take_u64(&r);
	return header->length == WIRE_HEARTBEAT_BYTES && body_complete(&r);
}

uint32_t wire_readiness_taken_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, uint64_t index)
{
	header.type = WIRE_READINESS_TAKEN;
	return encode_small(frame, size, header, index, 0, 0, 0);
}

bool wire_notify_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_notify *notify)
{
	struct bytes_reader r = body_reader(frame, header);
	notify->term = bytes_take_u64(&r);
	notify->alloc_index = bytes_take_u64(&r);
	notify->call_port = bytes_take_u16(&r);
	return header->length == WIRE_HEARTBEAT_BYTES && body_complete(&r);
}

uint32_t wire_notify_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_notify *notify)
{
	header.type = WIRE_NOTIFY;
	return encode_small(
		frame, size, header, notify->term, notify->alloc_index, notify->call_port, 0);
}

static void take_description(struct bytes_reader *r, struct wire_register *reg)
{
	reg->cpu_mhz = bytes_take_u32(r);
	reg->memory_mb = bytes_take_u32(r);
	reg->disk_mb = bytes_take_u32(r);
	reg->reserved_cpu_mhz = bytes_take_u32(r);
	reg->reserved_memory_mb = bytes_take_u32(r);
	reg->reserved_disk_mb = bytes_take_u32(r);
	reg->name = bytes_take_text8(r);
	reg->datacenter = bytes_take_text8(r);
	reg->class_name = bytes_take_text8(r);
	reg->pool = bytes_take_text8(r);
	reg->address = bytes_take_text8(r);
	reg->version = bytes_take_text8(r);
	reg->device_group_count = bytes_take_u8(r);
	if (reg->device_group_count > NODE_DEVICE_GROUPS_MAX) {
		r->failed = true;
		return;
	}
	for (uint32_t i = 0; i < reg->device_group_count; i++) {
		struct wire_device_group *group = &reg->device_groups[i];
		group->vendor = bytes_take_text8(r);
		group->type = bytes_take_text8(r);
		group->name = bytes_take_text8(r);
		group->instances = bytes_take_u8(r);
	}
}

static void take_pairs(struct bytes_reader *r, struct wire_register *reg)
{
	reg->pair_count = bytes_take_u16(r);
	if (reg->pair_count > NODE_ATTRIBUTES_MAX) {
		r->failed = true;
		return;
	}
	for (uint32_t i = 0; i < reg->pair_count && !r->failed; i++) {
		struct wire_pair *pair = &reg->pairs[i];
		pair->kind = bytes_take_u8(r);
		pair->name = bytes_take_text8(r);
		pair->value = bytes_take_text16(r);
		if (pair->kind >= WIRE_PAIR_KINDS)
			r->failed = true;
	}
}

bool wire_register_decode(
	const uint8_t *frame, const struct wire_header *header, struct wire_register *reg)
{
	// All but the pairs, of which only pair_count are ever looked at: 10 KB need no clearing.
	memset(reg, 0, offsetof(struct wire_register, pairs));
	if (header->length < WIRE_REGISTER_BYTES_MIN)
		return false;
	struct bytes_reader r = body_reader(frame, header);
	reg->node = bytes_take_uuid(&r);
	reg->part = bytes_take_u8(&r);
	reg->parts = bytes_take_u8(&r);
	uint16_t reserved = bytes_take_u16(&r);
	if (reserved != 0 || reg->parts > REGISTER_PARTS_MAX || reg->part >= reg->parts)
		return false;
	if (reg->part == 0)
		take_description(&r, reg);
	take_pairs(&r, reg);
	return body_complete(&r);
}

static void put_description(struct bytes_writer *w, const struct wire_register *reg)
{
	bytes_put_u32(w, reg->cpu_mhz);
	bytes_put_u32(w, reg->memory_mb);
	bytes_put_u32(w, reg->disk_mb);
	bytes_put_u32(w, reg->reserved_cpu_mhz);
	bytes_put_u32(w, reg->reserved_memory_mb);
	bytes_put_u32(w, reg->reserved_disk_mb);
	bytes_put_text8(w, reg->name);
	bytes_put_text8(w, reg->datacenter);
	bytes_put_text8(w, reg->class_name);
	bytes_put_text8(w, reg->pool);
	bytes_put_text8(w, reg->address);
	bytes_put_text8(w, reg->version);
	bytes_put_u8(w, reg->device_group_count);
	for (uint32_t i = 0; i < reg->device_group_count; i++) {
		const struct wire_device_group *group = &reg->device_groups[i];
		bytes_put_text8(w, group->vendor);
		bytes_put_text8(w, group->type);
		bytes_put_text8(w, group->name);
		bytes_put_u8(w, group->instances);
	}
}

uint32_t wire_register_encode(
	uint8_t *frame, uint32_t size, struct wire_header header, const struct wire_register *reg)
{
	if (reg->parts > REGISTER_PARTS_MAX || reg->part >= reg->parts ||
		reg->device_group_count > NODE_DEVICE_GROUPS_MAX ||
		reg->pair_count > NODE_ATTRIBUTES_MAX)
		return 0;
	header.type = WIRE_REGISTER;
	struct bytes_writer w = frame_begin(frame, size);
	bytes_put_uuid(&w, &reg->node);
	bytes_put_u8(&w, reg->part);
	bytes_put_u8(&w, reg->parts);
	bytes_put_u16(&w, 0);
	if (reg->part == 0)
		put_description(&w, reg);
	bytes_put_u16(&w, reg->pair_count);
	for (uint32_t i = 0; i < reg->pair_count; i++) {
		bytes_put_u8(&w, reg->pairs[i].kind);
		bytes_put_text8(&w, reg->pairs[i].name);
		bytes_put_text16(&w, reg->pairs[i].value);
	}
	return frame_end(&w, header, WIRE_REGISTER_BYTES_MIN);
}
