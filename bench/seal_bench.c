// What sealing costs: a description of 64 KiB as its node fetches it, piece by piece, encoded and signed, against the
// same in clear. The subject seals each piece besides, for another node each time; the second figure is the node's.
#include "bench/harness/bench.h"
#include "dataplane/wire/auth.h"
#include "dataplane/wire/seal.h"
#include "state/base/check.h"
#include "state/base/prng.h"
#include <time.h>

#define DESCRIPTION_BYTES (64u * 1024)

struct setup {
	uint32_t rounds;
	uint8_t description[DESCRIPTION_BYTES];
	struct uuid allocation;
	struct wire_key key;
	bool opens; // the node's side is measured
};

static struct wire_alloc_spec_reply piece_of(
	const struct setup *s, uint32_t offset, uint32_t most, bool is_sealed)
{
	uint32_t left = DESCRIPTION_BYTES - offset;
	return (struct wire_alloc_spec_reply){.version = 9,
		.total = DESCRIPTION_BYTES,
		.offset = offset,
		.bytes = (uint16_t)(left < most ? left : most),
		.is_sealed = is_sealed,
		.data = s->description + offset,
		.term = 12};
}

static void open_piece(const struct setup *s, const uint8_t *frame, uint32_t length)
{
	uint8_t plain[WIRE_SPEC_BYTES_MAX];
	struct wire_alloc_spec_reply reply;
	struct wire_header h;
	CHECK(wire_verify(&s->key, frame, length));
	CHECK(wire_header_decode(frame, length, &h) == WIRE_OK);
	CHECK(wire_alloc_spec_reply_decode(frame, &h, &reply));
	if (reply.is_sealed)
		CHECK(wire_alloc_spec_open(frame, &s->key, &s->allocation, &reply, plain));
	bench_keep(plain[0]);
}

// Of this thread: what counts is what sealing takes from a worker, not who else runs.
static uint64_t spent_cpu_ns(void)
{
	struct timespec now;
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Microseconds a description, of one side.
static double measure(struct setup *s, bool is_sealed)
{
	uint32_t most = is_sealed ? WIRE_SPEC_BYTES_SEALED : WIRE_SPEC_BYTES_OF_TERM;
	uint8_t frame[FRAME_BYTES_MAX];
	uint64_t spent_ns = 0;
	for (uint32_t i = 0; i < s->rounds; i++) {
		s->key.k[0]++;
		for (uint32_t at = 0; at < DESCRIPTION_BYTES; at += most) {
			struct wire_header h = {.key_id = 1,
				.flags = WIRE_FLAG_TERM | (is_sealed ? WIRE_FLAG_SEALED : 0),
				.sequence = at};
			struct wire_alloc_spec_reply reply = piece_of(s, at, most, is_sealed);
			uint64_t start = spent_cpu_ns();
			uint32_t length =
				wire_alloc_spec_reply_encode(frame, sizeof frame, h, &reply);
			if (is_sealed)
				wire_alloc_spec_seal(frame, &s->key, &s->allocation);
			wire_sign(&s->key, frame, length);
			if (s->opens) {
				start = spent_cpu_ns();
				open_piece(s, frame, length);
			}
			spent_ns += spent_cpu_ns() - start;
		}
	}
	return (double)spent_ns / 1e3 / s->rounds;
}

static double sealed(void *context)
{
	return measure(context, true);
}

static double in_clear(void *context)
{
	return measure(context, false);
}

int main(int argc, char **argv)
{
	static struct setup setup;
	struct bench bench;
	bench_begin(&bench, "seal", argc, argv);
	setup.rounds = bench.smoke ? 2 : 400;
	struct prng prng;
	prng_seed(&prng, 1);
	for (uint32_t i = 0; i < DESCRIPTION_BYTES; i++)
		setup.description[i] = (uint8_t)prng_u64(&prng);
	setup.allocation = prng_uuid(&prng);
	setup.key = (struct wire_key){{prng_u64(&prng), prng_u64(&prng)}};
	wire_seal_prepare();
	(void)bench_pin();
	struct bench_result result = {
		.name = "seal", .unit = "us/64KiB", .against = "encoded and signed in clear"};
	bench_interleave(&bench, sealed, in_clear, &setup, &result);
	bench_report(&bench, &result);
	setup.opens = true;
	struct bench_result opened = {
		.name = "open", .unit = "us/64KiB", .against = "verified and decoded in clear"};
	bench_interleave(&bench, sealed, in_clear, &setup, &opened);
	bench_report(&bench, &opened);
	return bench_end(&bench);
}
