#include "dataplane/wire/auth.h"
#include "dataplane/wire/beats.h"
#include "dataplane/wire/siphash.h"

static bool supported_always(void)
{
	return true;
}

#if defined(__x86_64__)
static bool supported_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool supported_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl");
}
#endif

// Best first.
static const struct burst_method {
	const char *name;
	siphash_burst *burst;
	wire_beats_method *beats;
	bool (*supported)(void);
} burst_methods[] = {
#if defined(__x86_64__)
	{"avx512", siphash_burst_avx512, wire_beats_tag_avx512, supported_avx512},
	{"avx2", siphash_burst_avx2, wire_beats_tag_avx2, supported_avx2},
#endif
	{"scalar", siphash_burst_scalar, wire_beats_tag_scalar, supported_always},
};
#define BURST_METHODS (sizeof burst_methods / sizeof burst_methods[0])

static const struct burst_method *burst_method = &burst_methods[BURST_METHODS - 1];

bool wire_tag_burst_force(const char *name)
{
	for (uint32_t i = 0; i < BURST_METHODS; i++) {
		if (name && strcmp(name, burst_methods[i].name) != 0)
			continue;
		if (!burst_methods[i].supported())
			continue;
		burst_method = &burst_methods[i];
		return true;
	}
	return false;
}

__attribute__((constructor)) static void choose_burst_method(void)
{
	__builtin_cpu_init();
	wire_tag_burst_force(NULL);
}

const char *wire_tag_burst_name(void)
{
	return burst_method->name;
}

void wire_tag_burst(const struct wire_key *const keys[], const uint8_t *const data[], uint32_t size,
	uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	burst_method->burst(keys, data, size, count, tags);
}

void wire_beats_tag(struct wire_beats *b)
{
	burst_method->beats(b);
}

bool wire_verify(const struct wire_key *key, const uint8_t *frame, uint32_t length)
{
	if (length < WIRE_FRAME_BYTES_MIN)
		return false;
	uint8_t tag[WIRE_TAG_BYTES];
	uint32_t signed_bytes = length - WIRE_TAG_BYTES;
	siphash128(key, frame, signed_bytes, tag);
	return wire_tag_equal(tag, frame + signed_bytes);
}

void wire_sign(const struct wire_key *key, uint8_t *frame, uint32_t length)
{
	siphash128(key, frame, length - WIRE_TAG_BYTES, frame + length - WIRE_TAG_BYTES);
}
