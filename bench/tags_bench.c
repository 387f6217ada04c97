// Whether how long a comparison takes tells where a tag is wrong. Frames with tags that are wrong at the first byte and
// at the last one are verified in a random order, and Welch's t compares the cycles of the two kinds, without the
// longest twentieth, which are what else the machine does. |t| of a difference that is chance alone is below 4.5. The
// reference is the same with a comparison that leaves at the first difference, as memcmp may: what the measurement is
// able to see.
#include "bench/harness/bench.h"
#include "dataplane/wire/auth.h"
#include "dataplane/wire/beats.h"
#include "dataplane/wire/siphash.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FRAME_BYTES WIRE_HEARTBEAT_BYTES
// Verified at once, so that reading the clock does not count.
#define TIMES 8u
#define LONGEST_PART 20u

enum wrong_at { WRONG_FIRST, WRONG_LAST, WRONG_KINDS };

struct sample {
	uint32_t cycles;
	enum wrong_at kind;
};

struct trial {
	struct prng prng;
	struct wire_key key;
	uint8_t frame[FRAME_BYTES];
	uint8_t tags[WRONG_KINDS][WIRE_TAG_BYTES];
	uint32_t count;
	struct sample *samples;
	struct wire_beats beats; // a burst of that frame
};

typedef void verify(struct trial *);

static void verify_one(struct trial *t)
{
	bench_keep(wire_verify(&t->key, t->frame, FRAME_BYTES));
}

static void verify_burst(struct trial *t)
{
	wire_beats_tag(&t->beats);
	bench_keep(t->beats.differs[0]);
}

static void verify_until_it_differs(struct trial *t)
{
	uint8_t tag[WIRE_TAG_BYTES];
	siphash128(&t->key, t->frame, FRAME_BYTES - WIRE_TAG_BYTES, tag);
	uint32_t at = 0;
	while (at < WIRE_TAG_BYTES && tag[at] == t->frame[FRAME_BYTES - WIRE_TAG_BYTES + at])
		at++;
	bench_keep(at);
}

static void take_sample(struct trial *t, verify *how, struct sample *sample)
{
	sample->kind = (enum wrong_at)prng_below(&t->prng, WRONG_KINDS);
	memcpy(t->frame + FRAME_BYTES - WIRE_TAG_BYTES, t->tags[sample->kind], WIRE_TAG_BYTES);
	uint64_t start = bench_cycles();
	for (uint32_t i = 0; i < TIMES; i++)
		how(t);
	sample->cycles = (uint32_t)(bench_cycles() - start);
}

static int by_cycles(const void *a, const void *b)
{
	uint32_t x = ((const struct sample *)a)->cycles, y = ((const struct sample *)b)->cycles;
	return (x > y) - (x < y);
}

static double welch_t(const struct sample *samples, uint32_t count)
{
	double number[WRONG_KINDS] = {0}, mean[WRONG_KINDS] = {0}, squares[WRONG_KINDS] = {0};
	for (uint32_t i = 0; i < count; i++) {
		enum wrong_at kind = samples[i].kind;
		double off = samples[i].cycles - mean[kind];
		mean[kind] += off / ++number[kind];
		squares[kind] += off * (samples[i].cycles - mean[kind]);
	}
	double error = 0;
	for (uint32_t kind = 0; kind < WRONG_KINDS; kind++) {
		CHECK(number[kind] > 1);
		error += squares[kind] / (number[kind] - 1) / number[kind];
	}
	return error > 0 ? (mean[WRONG_LAST] - mean[WRONG_FIRST]) / sqrt(error) : 0;
}

static double distinguish(struct trial *t, verify *how)
{
	for (uint32_t i = 0; i < t->count; i++)
		take_sample(t, how, &t->samples[i]);
	qsort(t->samples, t->count, sizeof *t->samples, by_cycles);
	return fabs(welch_t(t->samples, t->count - t->count / LONGEST_PART));
}

static double distinguish_one(void *context)
{
	return distinguish(context, verify_one);
}

static double distinguish_burst(void *context)
{
	return distinguish(context, verify_burst);
}

static double distinguish_early(void *context)
{
	return distinguish(context, verify_until_it_differs);
}

static void start(struct trial *t, uint32_t count)
{
	*t = (struct trial){
		.count = count, .samples = memory_take_array(count, sizeof *t->samples)};
	prng_seed(&t->prng, 1);
	t->key = (struct wire_key){{prng_u64(&t->prng), prng_u64(&t->prng)}};
	wire_sign(&t->key, t->frame, FRAME_BYTES);
	for (uint32_t kind = 0; kind < WRONG_KINDS; kind++)
		memcpy(t->tags[kind], t->frame + FRAME_BYTES - WIRE_TAG_BYTES, WIRE_TAG_BYTES);
	t->tags[WRONG_FIRST][0] ^= 1;
	t->tags[WRONG_LAST][WIRE_TAG_BYTES - 1] ^= 1;
	t->beats.count = WIRE_BEATS_MAX;
	for (uint32_t i = 0; i < WIRE_BEATS_MAX; i++) {
		t->beats.frames[i] = t->frame;
		t->beats.key[0][i] = t->key.k[0];
		t->beats.key[1][i] = t->key.k[1];
	}
}

static void compare(struct bench *bench, struct trial *t, const char *name, bench_side *subject)
{
	struct bench_result result = {
		.name = name, .unit = "|t|", .against = "a comparison that leaves early"};
	bench_interleave(bench, subject, distinguish_early, t, &result);
	bench_report(bench, &result);
}

int main(int argc, char **argv)
{
	static struct bench bench;
	static struct trial trial;
	bench_begin(&bench, "tags", argc, argv);
	bench_pin();
	start(&trial, (uint32_t)bench_option(&bench, "samples", bench.smoke ? 1000 : 300000));
	char name[64];
	snprintf(name, sizeof name, "tags-%s", wire_tag_burst_name());
	compare(&bench, &trial, "tags-one", distinguish_one);
	compare(&bench, &trial, name, distinguish_burst);
	free(trial.samples);
	return bench_end(&bench);
}
