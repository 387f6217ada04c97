// The nonce is a keyed hash of all that is sealed, so that it is the same for the same answer alone: an answer that is
// sent again tells nothing new, and no counter has to outlive a restart, a copy of the store or another controller.
#include "dataplane/wire/seal.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/check.h"
#include <sodium.h>

#define KEY_BYTES crypto_aead_xchacha20poly1305_ietf_KEYBYTES
#define NONCE_AT (WIRE_HEADER_BYTES + 20u)
#define DATA_AT (NONCE_AT + WIRE_SEAL_NONCE_BYTES)
#define BYTES_AT (WIRE_HEADER_BYTES + 16u)
// The frame up to the nonce, the allocation, the term.
#define ASSOCIATED_BYTES (NONCE_AT + sizeof(struct uuid) + WIRE_TERM_BYTES)

static const char label[] = "berth seal v1";

_Static_assert(WIRE_SEAL_NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES &&
		       WIRE_SEAL_MAC_BYTES == crypto_aead_xchacha20poly1305_ietf_ABYTES,
	"the layout of the answer has room for both");

struct seal_keys {
	uint8_t encryption[KEY_BYTES], nonce[32];
};

static void derive_keys(const struct wire_key *key, struct seal_keys *keys)
{
	uint8_t bytes[sizeof key->k];
	store64(bytes, key->k[0]);
	store64(bytes + 8, key->k[1]);
	CHECK(crypto_generichash((uint8_t *)keys, sizeof *keys, (const uint8_t *)label,
		      sizeof label - 1, bytes, sizeof bytes) == 0);
	sodium_memzero(bytes, sizeof bytes);
}

static void associate(const uint8_t *frame, const struct uuid *allocation, uint32_t data_bytes,
	uint8_t associated[static ASSOCIATED_BYTES])
{
	bool has_term = frame[7] & WIRE_FLAG_TERM;
	const uint8_t *term = frame + DATA_AT + data_bytes + WIRE_SEAL_MAC_BYTES;
	memcpy(associated, frame, NONCE_AT);
	memcpy(associated + NONCE_AT, allocation->bytes, sizeof allocation->bytes);
	store64(associated + NONCE_AT + sizeof allocation->bytes, has_term ? load64(term) : 0);
}

static void make_nonce(const struct seal_keys *keys, const uint8_t *associated,
	const uint8_t *plain, uint32_t bytes, uint8_t nonce[static WIRE_SEAL_NONCE_BYTES])
{
	crypto_generichash_state state;
	crypto_generichash_init(&state, keys->nonce, sizeof keys->nonce, WIRE_SEAL_NONCE_BYTES);
	crypto_generichash_update(&state, associated, ASSOCIATED_BYTES);
	crypto_generichash_update(&state, plain, bytes);
	crypto_generichash_final(&state, nonce, WIRE_SEAL_NONCE_BYTES);
}

void wire_seal_prepare(void)
{
	CHECK(sodium_init() >= 0);
}

void wire_alloc_spec_seal(uint8_t *frame, const struct wire_key *key, const struct uuid *allocation)
{
	uint8_t associated[ASSOCIATED_BYTES], *data = frame + DATA_AT;
	uint32_t bytes = load16(frame + BYTES_AT);
	struct seal_keys keys;
	CHECK(bytes <= WIRE_SPEC_BYTES_MAX - WIRE_SEAL_BYTES);
	derive_keys(key, &keys);
	associate(frame, allocation, bytes, associated);
	make_nonce(&keys, associated, data, bytes, frame + NONCE_AT);
	CHECK(crypto_aead_xchacha20poly1305_ietf_encrypt_detached(data, data + bytes, NULL, data,
		      bytes, associated, sizeof associated, NULL, frame + NONCE_AT,
		      keys.encryption) == 0);
	sodium_memzero(&keys, sizeof keys);
}

bool wire_alloc_spec_open(const uint8_t *frame, const struct wire_key *key,
	const struct uuid *allocation, const struct wire_alloc_spec_reply *reply,
	uint8_t plain[static WIRE_SPEC_BYTES_MAX])
{
	uint8_t associated[ASSOCIATED_BYTES];
	struct seal_keys keys;
	CHECK(reply->is_sealed && reply->data == frame + DATA_AT);
	derive_keys(key, &keys);
	associate(frame, allocation, reply->bytes, associated);
	int opened = crypto_aead_xchacha20poly1305_ietf_decrypt_detached(plain, NULL, reply->data,
		reply->bytes, reply->data + reply->bytes, associated, sizeof associated,
		frame + NONCE_AT, keys.encryption);
	sodium_memzero(&keys, sizeof keys);
	return opened == 0;
}
