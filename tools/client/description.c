#include "tools/client/description.h"

#define ROOM (FRAME_BYTES_MAX - WIRE_TAG_BYTES)

static uint32_t pair_bytes(const struct wire_pair *pair)
{
	return 1 + 1 + pair->name.size + 2 + pair->value.size;
}

// Bytes of part 0 before its pairs.
static uint32_t description_bytes(const struct wire_register *w)
{
	uint32_t bytes = WIRE_HEADER_BYTES + 20 + 24 + 6 + 1 + 2;
	bytes += w->name.size + w->datacenter.size + w->class_name.size + w->pool.size +
		 w->address.size + w->version.size;
	for (uint32_t i = 0; i < w->device_group_count; i++) {
		const struct wire_device_group *g = &w->device_groups[i];
		bytes += 4 + g->vendor.size + g->type.size + g->name.size;
	}
	return bytes;
}

// Fills pairs[] of each part as full as possible. Returns the number of parts, 0 when there are too many.
static uint32_t divide_pairs(const struct wire_register *whole, uint32_t pairs[REGISTER_PARTS_MAX])
{
	uint32_t part = 0, used = description_bytes(whole);
	pairs[0] = 0;
	for (uint32_t i = 0; i < whole->pair_count; i++) {
		uint32_t bytes = pair_bytes(&whole->pairs[i]);
		if (used + bytes > ROOM) {
			if (++part == REGISTER_PARTS_MAX)
				return 0;
			pairs[part] = 0;
			used = WIRE_HEADER_BYTES + 20 + 2;
		}
		used += bytes;
		pairs[part]++;
	}
	return part + 1;
}

bool description_encode(const struct wire_register *whole, uint64_t sequence, uint8_t key_id,
	const struct wire_key *key, struct description_frames *out)
{
	uint32_t pairs[REGISTER_PARTS_MAX], first = 0;
	out->count = divide_pairs(whole, pairs);
	struct wire_header header = {.key_id = key_id, .slot = WIRE_NO_SLOT, .sequence = sequence};
	struct wire_register part = *whole;
	part.parts = (uint8_t)out->count;
	for (uint32_t i = 0; i < out->count; i++) {
		part.part = (uint8_t)i;
		part.pair_count = (uint16_t)pairs[i];
		memcpy(part.pairs, whole->pairs + first, pairs[i] * sizeof part.pairs[0]);
		first += pairs[i];
		uint32_t length =
			wire_register_encode(out->frames[i], FRAME_BYTES_MAX, header, &part);
		if (length == 0)
			return false;
		wire_sign(key, out->frames[i], length);
		out->lengths[i] = (uint16_t)length;
	}
	return out->count > 0;
}
