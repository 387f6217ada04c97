#include "tools/keyring/keyring_share.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include <sodium.h>

#define NONCE_AT 1u
#define NONCE_SIZE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_SIZE crypto_aead_xchacha20poly1305_ietf_ABYTES
#define HEAD_SIZE (NONCE_AT + NONCE_SIZE)
#define ITEM_SIZE (KEYRING_KEY_BYTES + 8u + 1u)
#define SHARE_LABEL "berth keyring share v1"

_Static_assert(KEYRING_SECRET_BYTES >= crypto_generichash_KEYBYTES_MIN, "a secret keys the hash");
_Static_assert(KEYRING_SHARE_BYTES_MAX == HEAD_SIZE + KEYRING_KEYS_MAX * ITEM_SIZE + TAG_SIZE,
	"all keys fit");

static void derive_share_key(const uint8_t *secret, uint8_t key[static KEYRING_KEY_BYTES])
{
	CHECK(crypto_generichash(key, KEYRING_KEY_BYTES, (const uint8_t *)SHARE_LABEL,
		      sizeof SHARE_LABEL - 1, secret, KEYRING_SECRET_BYTES) == 0);
}

size_t keyring_share_seal(const struct keyring_keys *keys, uint8_t number,
	const uint8_t secret[static KEYRING_SECRET_BYTES],
	uint8_t sealed[static KEYRING_SHARE_BYTES_MAX])
{
	uint8_t plain[KEYRING_KEYS_MAX * ITEM_SIZE], key[KEYRING_KEY_BYTES];
	struct bytes_writer w = bytes_writer_over(plain, sizeof plain);

	CHECK(number > 0 && sodium_init() >= 0);
	for (uint32_t i = 0; i < keys->count; i++) {
		bytes_put(&w, keys->keys[i].bytes, KEYRING_KEY_BYTES);
		bytes_put_u64(&w, (uint64_t)keys->keys[i].create_time_ns);
		bytes_put_u8(&w, keys->keys[i].is_retired);
	}
	CHECK(!w.failed);
	sealed[0] = number;
	randombytes_buf(sealed + NONCE_AT, NONCE_SIZE);
	derive_share_key(secret, key);
	crypto_aead_xchacha20poly1305_ietf_encrypt(
		sealed + HEAD_SIZE, NULL, plain, w.size, sealed, 1, NULL, sealed + NONCE_AT, key);
	sodium_memzero(plain, sizeof plain);
	sodium_memzero(key, sizeof key);
	return HEAD_SIZE + w.size + TAG_SIZE;
}

uint8_t keyring_share_number(const uint8_t *sealed, size_t size)
{
	if (size < HEAD_SIZE + TAG_SIZE || size > KEYRING_SHARE_BYTES_MAX ||
		(size - HEAD_SIZE - TAG_SIZE) % ITEM_SIZE != 0)
		return 0;
	return sealed[0];
}

static void read_shared_keys(const uint8_t *plain, size_t size, struct keyring_keys *keys)
{
	struct bytes_reader r = bytes_reader_over(plain, size);

	while (bytes_left(&r) > 0) {
		struct keyring_key *key = &keys->keys[keys->count++];
		const uint8_t *bytes = bytes_take(&r, KEYRING_KEY_BYTES);
		CHECK(bytes && keys->count <= KEYRING_KEYS_MAX);
		memcpy(key->bytes, bytes, KEYRING_KEY_BYTES);
		key->create_time_ns = (int64_t)bytes_take_u64(&r);
		key->is_retired = bytes_take_u8(&r) != 0;
	}
}

bool keyring_share_open(const uint8_t *sealed, size_t size,
	const uint8_t secret[static KEYRING_SECRET_BYTES], struct keyring_keys *keys)
{
	uint8_t plain[KEYRING_KEYS_MAX * ITEM_SIZE], key[KEYRING_KEY_BYTES];

	*keys = (struct keyring_keys){0};
	if (keyring_share_number(sealed, size) == 0 || sodium_init() < 0)
		return false;
	derive_share_key(secret, key);
	bool is_open =
		crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, sealed + HEAD_SIZE,
			size - HEAD_SIZE, sealed, 1, sealed + NONCE_AT, key) == 0;
	if (is_open)
		read_shared_keys(plain, size - HEAD_SIZE - TAG_SIZE, keys);
	sodium_memzero(plain, sizeof plain);
	sodium_memzero(key, sizeof key);
	return is_open;
}
