// Keys and tags. Keys are derived from a cluster's master key with keyed BLAKE2b (libsodium
// crypto_generichash), 16 bytes out:
//	node key   = BLAKE2b(key = master, "berth node v1" | key_id | 16 bytes of the UUID)
//	client key = BLAKE2b(key = master, "berth client v1" | key_id | name)
// and, once an operator gave the sender another key, of the generation g = 1, 2, …
//	node key   = BLAKE2b(key = master, "berth node v2" | key_id | g (u32) | 16 bytes of the UUID)
//	client key = BLAKE2b(key = master, "berth client v2" | key_id | g (u32) | name)
// A tag is SipHash-2-4 with 128-bit output over the frame without its last 16 bytes.
#pragma once
#include "dataplane/wire/wire.h"
#include "dataplane/wire/wire_key.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MASTER_KEY_BYTES 32
#define MASTER_KEYS_MAX 4 // old ones stay valid while a fleet moves to a new one

struct master_keys {
	uint8_t count;
	struct {
		uint8_t id; // 1 … 255
		uint8_t bytes[MASTER_KEY_BYTES];
	} keys[MASTER_KEYS_MAX]; // [0] is the one that new keys are derived from
};

// A key file: lines "ID HEX64", newest first; '#' starts a comment. Mode must be 0600 or less open.
// Returns 0 or -errno / -ERROR_CORRUPT and a sentence about what, where and what to do in message.
int master_keys_load(const char *path, struct master_keys *, char *message, uint32_t message_size);
// Creates the file (0600, O_EXCL) with one random key, or prepends a new one to an existing file when rotate.
int master_keys_generate(const char *path, bool rotate, char *message, uint32_t message_size);

// False when the ring has no key of that id.
bool node_key_derive(
	const struct master_keys *, uint8_t key_id, const struct uuid *, struct wire_key *);
bool client_key_derive(
	const struct master_keys *, uint8_t key_id, struct text name, struct wire_key *);
// The same for keys of a generation; 0: the first.
bool node_key_derive_next(const struct master_keys *, uint8_t key_id, const struct uuid *,
	uint32_t generation, struct wire_key *);
bool client_key_derive_next(const struct master_keys *, uint8_t key_id, struct text name,
	uint32_t generation, struct wire_key *);
// A provisioned key in text: "ID:HEX32". What `berth node key` prints and an agent's key file holds.
#define WIRE_KEY_TEXT_BYTES 40
char *wire_key_format(
	uint8_t key_id, const struct wire_key *, char text[static WIRE_KEY_TEXT_BYTES]);
bool wire_key_parse(const char *text, uint8_t *key_id, struct wire_key *);

// One frame, whose last bytes are the tag: compare it in constant time, or put it in place.
bool wire_verify(const struct wire_key *, const uint8_t *frame, uint32_t length);
void wire_sign(const struct wire_key *, uint8_t *frame, uint32_t length);

// Takes the same time wherever the difference is.
static inline bool wire_tag_equal(const uint8_t *a, const uint8_t *b)
{
	uint64_t x[2], y[2];
	memcpy(x, a, sizeof x);
	memcpy(y, b, sizeof y);
	return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}

// A burst: tags of count frames whose bytes before the tag are all size long, each under its own key.
// Eight lanes at a time with AVX-512 or four with AVX2 where the processor has them, chosen once at start,
// else one by one; the result is the same. data[i] need not be aligned.
void wire_tag_burst(const struct wire_key *const keys[], const uint8_t *const data[], uint32_t size,
	uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES]);
// Which of the above is in use: "avx512", "avx2", "scalar". Tests may force one; NULL is automatic.
const char *wire_tag_burst_name(void);
bool wire_tag_burst_force(const char *name);

// Replay window of 64 (RFC 4303, section 3.4.3, in the form of RFC 6479's idea): sequence is the highest
// accepted, bit i of window says that sequence - i was seen. Returns false for a replay or for something
// older than the window; otherwise records it.
static inline bool replay_accept(uint64_t *sequence, uint64_t *window, uint64_t seen)
{
	if (seen > *sequence) {
		uint64_t ahead = seen - *sequence;
		*window = ahead < 64 ? (*window << ahead) | 1 : 1;
		*sequence = seen;
		return true;
	}
	uint64_t behind = *sequence - seen;
	if (behind >= 64 || (*window >> behind & 1))
		return false;
	*window |= 1ull << behind;
	return true;
}
