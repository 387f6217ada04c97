#include "dataplane/wire/beats.h"
#include "dataplane/wire/little_endian.h"

#define ACK_BYTES (WIRE_BEAT_WORDS * 8u)

static void write_ack(const struct wire_beats *b, uint32_t i, uint8_t *ack)
{
	store64(ack, load64(b->frames[i]) ^ WIRE_BEAT_TO_ACK);
	store64(ack + 8, load64(b->frames[i] + 8));
	store64(ack + 16, load64(b->frames[i] + 16));
	store64(ack + 24, b->term);
	store64(ack + 32, b->ack_index[i]);
	store64(ack + 40, b->ack_end[i]);
}

static uint64_t add_halves(uint64_t sum, uint64_t word)
{
	return sum + (uint32_t)word + (word >> 32);
}

static void take_tags(struct wire_beats *b, uint32_t i, const uint8_t *own, const uint8_t *ack,
	const uint8_t *ack_tag)
{
	const uint8_t *tag = b->frames[i] + ACK_BYTES;
	b->differs[i] = (load64(tag) ^ load64(own)) | (load64(tag + 8) ^ load64(own + 8));
	b->ack_tag[0][i] = load64(ack_tag);
	b->ack_tag[1][i] = load64(ack_tag + 8);
	uint64_t sum = add_halves(add_halves(0, b->ack_tag[0][i]), b->ack_tag[1][i]);
	for (uint32_t at = 0; at < ACK_BYTES; at += 8)
		sum = add_halves(sum, load64(ack + at));
	b->ack_sum[i] = sum;
}

void wire_beats_tag_by(siphash_burst *burst, struct wire_beats *b)
{
	struct wire_key keys[WIRE_BEATS_MAX];
	const struct wire_key *key_of[2 * WIRE_BEATS_MAX] = {NULL};
	const uint8_t *data[2 * WIRE_BEATS_MAX] = {NULL};
	uint8_t acks[WIRE_BEATS_MAX][ACK_BYTES], tags[2 * WIRE_BEATS_MAX][WIRE_TAG_BYTES];
	uint32_t count = b->count;
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = (struct wire_key){{b->key[0][i], b->key[1][i]}};
		write_ack(b, i, acks[i]);
		key_of[i] = key_of[count + i] = &keys[i];
		data[i] = b->frames[i];
		data[count + i] = acks[i];
	}
	burst(key_of, data, ACK_BYTES, 2 * count, tags);
	for (uint32_t i = 0; i < count; i++)
		take_tags(b, i, tags[i], acks[i], tags[count + i]);
}

void wire_beats_tag_scalar(struct wire_beats *b)
{
	wire_beats_tag_by(siphash_burst_scalar, b);
}
