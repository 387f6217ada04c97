// What authenticating a heartbeat costs: tags of 48 bytes, every frame under another node's key, in the
// bursts of the packet path. SipHash-2-4-128 in lanes against one at a time, against libsodium, and against
// AES-CMAC of intel-ipsec-mb, both with the key schedule made for each frame (a node's line holds 16 bytes of
// key) and with all schedules kept (as if a line could hold 208 bytes of them).
#include "bench/harness/bench.h"
#include "dataplane/wire/auth.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef WITH_IPSEC_MB
#include <intel-ipsec-mb.h>
#endif

#define BURST 64u
#define SIGNED_BYTES 48u
#define FRAME_BYTES 64u

struct setup {
	uint32_t nodes, bursts;
	struct wire_key *keys;
	uint32_t *order; // of nodes, random
	uint8_t *frames; // BURST × FRAME_BYTES: a burst lies in the cache, as after reception
	uint8_t tags[BURST][WIRE_TAG_BYTES];
#ifdef WITH_IPSEC_MB
	IMB_MGR *manager;
	struct cmac_key *schedules; // by node
#endif
};

typedef void tag_burst(struct setup *, const uint32_t *nodes);

// Tags a second of one way.
static double rate(struct setup *s, tag_burst *way)
{
	uint64_t start = bench_ns();
	for (uint32_t i = 0; i < s->bursts; i++)
		way(s, &s->order[i * BURST % (s->nodes & ~(BURST - 1))]);
	return (double)s->bursts * BURST * 1e9 / (double)(bench_ns() - start);
}

static void in_lanes(struct setup *s, const uint32_t *nodes)
{
	const struct wire_key *keys[BURST];
	const uint8_t *data[BURST];
	for (uint32_t i = 0; i < BURST; i++) {
		keys[i] = &s->keys[nodes[i]];
		data[i] = s->frames + i * FRAME_BYTES;
		__builtin_prefetch(keys[i]);
	}
	wire_tag_burst(keys, data, SIGNED_BYTES, BURST, s->tags);
}

static void one_by_one(struct setup *s, const uint32_t *nodes)
{
	for (uint32_t i = 0; i < BURST; i++)
		__builtin_prefetch(&s->keys[nodes[i]]);
	for (uint32_t i = 0; i < BURST; i++)
		wire_sign(&s->keys[nodes[i]], s->frames + i * FRAME_BYTES, FRAME_BYTES);
}

static void libsodium(struct setup *s, const uint32_t *nodes)
{
	for (uint32_t i = 0; i < BURST; i++)
		__builtin_prefetch(&s->keys[nodes[i]]);
	for (uint32_t i = 0; i < BURST; i++)
		crypto_shorthash_siphashx24(s->tags[i], s->frames + i * FRAME_BYTES, SIGNED_BYTES,
			(const unsigned char *)&s->keys[nodes[i]]);
}

static double rate_in_lanes(void *context)
{
	return rate(context, in_lanes);
}
static double rate_one_by_one(void *context)
{
	return rate(context, one_by_one);
}
static double rate_libsodium(void *context)
{
	return rate(context, libsodium);
}

#ifdef WITH_IPSEC_MB
struct cmac_key {
	uint8_t expanded[11 * 16] __attribute__((aligned(16)));
	uint8_t first[16], second[16];
};

static void schedule(IMB_MGR *manager, const struct wire_key *key, struct cmac_key *out)
{
	uint8_t decryption[11 * 16] __attribute__((aligned(16)));
	IMB_AES_KEYEXP_128(manager, key, out->expanded, decryption);
	IMB_AES_CMAC_SUBKEY_GEN_128(manager, out->expanded, out->first, out->second);
}

static void submit(struct setup *s, uint32_t i, const struct cmac_key *key)
{
	IMB_JOB *job = IMB_GET_NEXT_JOB(s->manager);
	job->cipher_mode = IMB_CIPHER_NULL;
	job->cipher_direction = IMB_DIR_ENCRYPT;
	job->chain_order = IMB_ORDER_HASH_CIPHER;
	job->hash_alg = IMB_AUTH_AES_CMAC;
	job->u.CMAC._key_expanded = key->expanded;
	job->u.CMAC._skey1 = key->first;
	job->u.CMAC._skey2 = key->second;
	job->src = s->frames + i * FRAME_BYTES;
	job->hash_start_src_offset_in_bytes = 0;
	job->msg_len_to_hash_in_bytes = SIGNED_BYTES;
	job->auth_tag_output = s->tags[i];
	job->auth_tag_output_len_in_bytes = WIRE_TAG_BYTES;
	IMB_SUBMIT_JOB_NOCHECK(s->manager);
}

static void flush(struct setup *s)
{
	while (IMB_FLUSH_JOB(s->manager))
		;
}

static void cmac_with_schedules(struct setup *s, const uint32_t *nodes)
{
	struct cmac_key keys[BURST];
	for (uint32_t i = 0; i < BURST; i++)
		__builtin_prefetch(&s->keys[nodes[i]]);
	for (uint32_t i = 0; i < BURST; i++) {
		schedule(s->manager, &s->keys[nodes[i]], &keys[i]);
		submit(s, i, &keys[i]);
	}
	flush(s);
}

static void cmac_schedules_kept(struct setup *s, const uint32_t *nodes)
{
	for (uint32_t i = 0; i < BURST; i++)
		for (uint32_t line = 0; line < sizeof(struct cmac_key); line += 64)
			__builtin_prefetch((const char *)&s->schedules[nodes[i]] + line);
	for (uint32_t i = 0; i < BURST; i++)
		submit(s, i, &s->schedules[nodes[i]]);
	flush(s);
}

static double rate_cmac_with_schedules(void *context)
{
	return rate(context, cmac_with_schedules);
}
static double rate_cmac_schedules_kept(void *context)
{
	return rate(context, cmac_schedules_kept);
}

static void start_ipsec(struct setup *s)
{
	s->manager = alloc_mb_mgr(0);
	CHECK(s->manager);
	init_mb_mgr_auto(s->manager, NULL);
	s->schedules = memory_map((size_t)s->nodes * sizeof *s->schedules);
	CHECK(s->schedules);
	for (uint32_t i = 0; i < s->nodes; i++)
		schedule(s->manager, &s->keys[i], &s->schedules[i]);
}

static void stop_ipsec(struct setup *s)
{
	memory_unmap(s->schedules, (size_t)s->nodes * sizeof *s->schedules);
	free_mb_mgr(s->manager);
}
#endif

static void start(struct setup *s, uint32_t nodes, uint32_t bursts)
{
	struct prng prng;
	prng_seed(&prng, 1);
	*s = (struct setup){.nodes = nodes, .bursts = bursts};
	s->keys = memory_take_array(nodes, sizeof *s->keys);
	s->order = memory_take_array(nodes, sizeof *s->order);
	s->frames = memory_take(BURST * FRAME_BYTES);
	for (uint32_t i = 0; i < nodes; i++) {
		s->keys[i] = (struct wire_key){{prng_u64(&prng), prng_u64(&prng)}};
		s->order[i] = (uint32_t)prng_below(&prng, nodes);
	}
	for (uint32_t i = 0; i < BURST * FRAME_BYTES; i++)
		s->frames[i] = (uint8_t)prng_u64(&prng);
}

static void stop(struct setup *s)
{
	free(s->keys);
	free(s->order);
	free(s->frames);
}

static void compare(struct bench *bench, struct setup *s, const char *name, bench_side *subject,
	bench_side *reference, const char *against)
{
	struct bench_result result = {
		.name = name, .nodes = s->nodes, .unit = "tags/s", .against = against};
	bench_interleave(bench, subject, reference, s, &result);
	bench_report(bench, &result);
}

int main(int argc, char **argv)
{
	struct bench bench;
	static struct setup s;
	bench_begin(&bench, "mac", argc, argv);
	bench_pin();
	CHECK(sodium_init() >= 0);
	uint32_t nodes = (uint32_t)bench_option(&bench, "nodes", bench.smoke ? 1024 : 100000);
	CHECK(nodes >= BURST);
	start(&s, nodes, bench.smoke ? 100 : 50000);
	static char name[64];
	snprintf(name, sizeof name, "mac-siphash-%s", wire_tag_burst_name());
	compare(&bench, &s, name, rate_in_lanes, rate_one_by_one, "siphash, one by one");
	compare(&bench, &s, name, rate_in_lanes, rate_libsodium, "siphash, libsodium");
#ifdef WITH_IPSEC_MB
	start_ipsec(&s);
	compare(&bench, &s, name, rate_in_lanes, rate_cmac_with_schedules,
		"aes-cmac, ipsec-mb, key schedule for each frame");
	compare(&bench, &s, name, rate_in_lanes, rate_cmac_schedules_kept,
		"aes-cmac, ipsec-mb, schedules kept");
	stop_ipsec(&s);
#else
	printf("mac: built without intel-ipsec-mb; install libipsec-mb-dev to compare with it\n");
#endif
	stop(&s);
	return bench_end(&bench);
}
