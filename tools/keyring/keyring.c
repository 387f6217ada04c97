#include "tools/keyring/keyring.h"
#include "state/base/base64.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES crypto_aead_xchacha20poly1305_ietf_ABYTES
#define LABEL "berth variable v1"
#define ID_LABEL "berth variable key v1"
#define SIGNING_LABEL "berth signature v1"

struct signing_key {
	uint8_t bytes[crypto_generichash_KEYBYTES];
};

struct keyring {
	pthread_mutex_t lock;
	char *path;               // NULL: keys are in memory alone
	keyring_publish *publish; // NULL: nobody else has them
	void *publish_context;
	struct keyring_keys keys;
	struct uuid held;             // zero: none
	pthread_mutex_t signing_lock; // guards what follows; nobody holds it for long
	bool can_sign;
	struct signing_key signing; // follows from the newest key
	_Atomic uint64_t changes;
	_Atomic uint64_t counts[KEYRING_VERDICTS];
};

_Static_assert(KEYRING_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key fits");

static struct keyring_key new_key(int64_t now_ns)
{
	struct keyring_key key = {.create_time_ns = now_ns};
	randombytes_buf(key.bytes, sizeof key.bytes);
	return key;
}

static struct uuid id_of(const struct keyring_key *key)
{
	struct uuid id;
	CHECK(crypto_generichash(id.bytes, sizeof id.bytes, (const uint8_t *)ID_LABEL,
		      sizeof ID_LABEL - 1, key->bytes, sizeof key->bytes) == 0);
	return id;
}

static struct signing_key signing_key_of(const struct keyring_key *key)
{
	struct signing_key signing;
	CHECK(crypto_generichash(signing.bytes, sizeof signing.bytes,
		      (const uint8_t *)SIGNING_LABEL, sizeof SIGNING_LABEL - 1, key->bytes,
		      sizeof key->bytes) == 0);
	return signing;
}

// From now on it is the newest key that signs.
static void renew_signing_key(struct keyring *k)
{
	pthread_mutex_lock(&k->signing_lock);
	k->can_sign = k->keys.count > 0;
	if (k->can_sign)
		k->signing = signing_key_of(&k->keys.keys[0]);
	pthread_mutex_unlock(&k->signing_lock);
	atomic_fetch_add(&k->changes, 1);
}

static struct keyring *create_empty(const char *path)
{
	CHECK(sodium_init() >= 0);
	struct keyring *k = memory_take(sizeof *k);
	pthread_mutex_init(&k->lock, NULL);
	pthread_mutex_init(&k->signing_lock, NULL);
	k->path = path ? text_copy(text_of(path)) : NULL;
	return k;
}

struct keyring *keyring_create(void)
{
	struct keyring *k = create_empty(NULL);
	k->keys.keys[k->keys.count++] = new_key(0);
	renew_signing_key(k);
	return k;
}

struct keyring *keyring_open(const char *path, bool may_make, char *message, uint32_t message_size)
{
	struct keyring *k = create_empty(path);
	*message = '\0';
	int error = keyring_file_read(path, &k->keys, message, message_size);
	bool fine = !error || error == -ENOENT;
	if (error == -ENOENT && may_make) {
		k->keys.keys[k->keys.count++] = new_key((int64_t)time_wall_ns(&time_source_real));
		fine = keyring_file_write(path, &k->keys, message, message_size);
		if (fine)
			*message = '\0'; // it is not lost any more
	}
	renew_signing_key(k);
	if (fine)
		return k;
	keyring_destroy(k);
	return NULL;
}

void keyring_destroy(struct keyring *k)
{
	if (!k)
		return;
	sodium_memzero(&k->keys, sizeof k->keys);
	sodium_memzero(&k->signing, sizeof k->signing);
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->signing_lock);
	free(k->path);
	free(k);
}

static struct keyring_entry entry_of(const struct keyring_key *key)
{
	return (struct keyring_entry){id_of(key), key->create_time_ns, key->is_retired};
}

uint32_t keyring_list(struct keyring *k, struct keyring_entry entries[static KEYRING_KEYS_MAX])
{
	pthread_mutex_lock(&k->lock);
	uint32_t count = k->keys.count;
	for (uint32_t i = 0; i < count; i++)
		entries[i] = entry_of(&k->keys.keys[i]);
	pthread_mutex_unlock(&k->lock);
	return count;
}

void keyring_publish_to(struct keyring *k, keyring_publish *publish, void *context)
{
	k->publish = publish;
	k->publish_context = context;
}

void keyring_copy(struct keyring *k, struct keyring_keys *keys)
{
	pthread_mutex_lock(&k->lock);
	*keys = k->keys;
	pthread_mutex_unlock(&k->lock);
}

// Writes the keys and uses them from then on. Under lock.
static bool write_and_use(
	struct keyring *k, const struct keyring_keys *keys, char *message, uint32_t message_size)
{
	if (k->path && !keyring_file_write(k->path, keys, message, message_size))
		return false;
	k->keys = *keys;
	renew_signing_key(k);
	return true;
}

static bool replace_keys(
	struct keyring *k, const struct keyring_keys *keys, char *message, uint32_t message_size)
{
	return (!k->publish || k->publish(k->publish_context, keys, message, message_size)) &&
	       write_and_use(k, keys, message, message_size);
}

bool keyring_adopt(
	struct keyring *k, const struct keyring_keys *keys, char *message, uint32_t message_size)
{
	CHECK(keys->count > 0);
	pthread_mutex_lock(&k->lock);
	bool is_same = sodium_memcmp(keys, &k->keys, sizeof *keys) == 0;
	bool fine = is_same || write_and_use(k, keys, message, message_size);
	pthread_mutex_unlock(&k->lock);
	return fine;
}

static bool rotate_keys(struct keyring *k, int64_t now_ns, bool retires,
	struct keyring_entry *entry, char *message, uint32_t message_size)
{
	struct keyring_keys next = {.count = k->keys.count + 1};
	if (next.count > KEYRING_KEYS_MAX) {
		snprintf(message, message_size,
			"the keyring has %u keys, the most that it may have; remove one that "
			"encrypts nothing any more",
			KEYRING_KEYS_MAX);
		return false;
	}
	next.keys[0] = new_key(now_ns);
	memcpy(&next.keys[1], k->keys.keys, k->keys.count * sizeof next.keys[0]);
	for (uint32_t i = 1; i < next.count; i++)
		next.keys[i].is_retired |= retires;
	*entry = entry_of(&next.keys[0]);
	bool fine = replace_keys(k, &next, message, message_size);
	sodium_memzero(&next, sizeof next);
	return fine;
}

bool keyring_rotate(struct keyring *k, int64_t now_ns, bool retires, struct keyring_entry *entry,
	char *message, uint32_t message_size)
{
	pthread_mutex_lock(&k->lock);
	bool fine = rotate_keys(k, now_ns, retires, entry, message, message_size);
	pthread_mutex_unlock(&k->lock);
	return fine;
}

// The place of a key, or KEYRING_KEYS_MAX. Under lock.
static uint32_t find_key(const struct keyring *k, const struct uuid *id)
{
	for (uint32_t i = 0; i < k->keys.count; i++) {
		struct uuid own = id_of(&k->keys.keys[i]);
		if (uuid_equal(&own, id))
			return i;
	}
	return KEYRING_KEYS_MAX;
}

static bool forget_key(struct keyring *k, const struct uuid *id, keyring_is_used *is_used,
	void *context, char *message, uint32_t message_size)
{
	uint32_t at = find_key(k, id);
	if (at == KEYRING_KEYS_MAX)
		return true;
	if (at == 0) {
		snprintf(message, message_size,
			"active root key cannot be deleted - call rotate first");
		return false;
	}
	if (uuid_equal(&k->held, id) || is_used(context, id)) {
		snprintf(message, message_size,
			"the key still encrypts variables: rotate with full, so that the newest "
			"key encrypts them, and try again when the key is inactive");
		return false;
	}
	struct keyring_keys next = k->keys;
	next.count--;
	memmove(&next.keys[at], &next.keys[at + 1], (next.count - at) * sizeof next.keys[0]);
	sodium_memzero(&next.keys[next.count], sizeof next.keys[0]);
	bool fine = replace_keys(k, &next, message, message_size);
	sodium_memzero(&next, sizeof next);
	return fine;
}

bool keyring_forget(struct keyring *k, const struct uuid *id, keyring_is_used *is_used,
	void *context, char *message, uint32_t message_size)
{
	pthread_mutex_lock(&k->lock);
	bool fine = forget_key(k, id, is_used, context, message, message_size);
	pthread_mutex_unlock(&k->lock);
	return fine;
}

bool keyring_has(struct keyring *k, const struct uuid *id)
{
	pthread_mutex_lock(&k->lock);
	bool has = find_key(k, id) < KEYRING_KEYS_MAX;
	pthread_mutex_unlock(&k->lock);
	return has;
}

bool keyring_hold(struct keyring *k, const struct uuid *id)
{
	pthread_mutex_lock(&k->lock);
	bool has = !id || find_key(k, id) < KEYRING_KEYS_MAX;
	k->held = id && has ? *id : (struct uuid){{0}};
	pthread_mutex_unlock(&k->lock);
	return has;
}

// A copy of the key, for work without the lock. The newest: id is NULL.
static bool copy_key(struct keyring *k, const struct uuid *id, struct keyring_key *key)
{
	pthread_mutex_lock(&k->lock);
	uint32_t at = id ? find_key(k, id) : 0;
	bool found = at < k->keys.count;
	if (found)
		*key = k->keys.keys[at];
	pthread_mutex_unlock(&k->lock);
	return found;
}

// What is vouched for beside what is encrypted: the label, the key's id, the name. Caller frees.
static uint8_t *vouched(const struct uuid *id, struct text name, size_t *size)
{
	size_t head = sizeof LABEL - 1 + sizeof id->bytes;
	uint8_t *bytes = memory_take(head + name.size);
	memcpy(bytes, LABEL, sizeof LABEL - 1);
	memcpy(bytes + sizeof LABEL - 1, id->bytes, sizeof id->bytes);
	memcpy(bytes + head, name.data, name.size);
	*size = head + name.size;
	return bytes;
}

char *keyring_seal(
	struct keyring *k, struct text name, const void *plain, size_t size, struct uuid *id)
{
	struct keyring_key key;
	if (!copy_key(k, NULL, &key))
		return NULL;
	*id = id_of(&key);
	size_t vouched_size, whole = NONCE_BYTES + size + TAG_BYTES;
	uint8_t *with = vouched(id, name, &vouched_size), *bytes = memory_take(whole);
	randombytes_buf(bytes, NONCE_BYTES);
	crypto_aead_xchacha20poly1305_ietf_encrypt(
		bytes + NONCE_BYTES, NULL, plain, size, with, vouched_size, NULL, bytes, key.bytes);
	char *sealed = base64_encode((struct text){(const char *)bytes, (uint32_t)whole});
	sodium_memzero(&key, sizeof key);
	free(bytes);
	free(with);
	return sealed;
}

// bytes: nonce and what is encrypted.
static bool decrypt(const struct keyring_key *key, const struct uuid *id, struct text name,
	const uint8_t *bytes, size_t whole, uint8_t *plain)
{
	size_t vouched_size;
	uint8_t *with = vouched(id, name, &vouched_size);
	bool fine =
		crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, bytes + NONCE_BYTES,
			whole - NONCE_BYTES, with, vouched_size, bytes, key->bytes) == 0;
	free(with);
	return fine;
}

static enum keyring_verdict unseal(struct keyring *k, struct text name, const struct uuid *id,
	const char *sealed, uint8_t **plain, size_t *size)
{
	struct keyring_key key;
	struct text text = text_of(sealed);
	size_t whole = 0;
	if (!copy_key(k, id, &key))
		return KEYRING_NO_KEY;
	uint8_t *bytes = memory_take(BASE64_DECODED_MAX((size_t)text.size) + 1);
	bool fine = base64_decode(text.data, text.size, bytes, &whole) &&
		    whole >= NONCE_BYTES + TAG_BYTES;
	*size = fine ? whole - NONCE_BYTES - TAG_BYTES : 0;
	*plain = memory_take(*size + 1);
	fine = fine && decrypt(&key, id, name, bytes, whole, *plain);
	sodium_memzero(&key, sizeof key);
	free(bytes);
	if (fine)
		return KEYRING_OPENED;
	free(*plain);
	*plain = NULL;
	return KEYRING_TAMPERED;
}

enum keyring_verdict keyring_unseal(struct keyring *k, struct text name, const struct uuid *id,
	const char *sealed, uint8_t **plain, size_t *size)
{
	*plain = NULL;
	enum keyring_verdict verdict = unseal(k, name, id, sealed, plain, size);
	atomic_fetch_add_explicit(&k->counts[verdict], 1, memory_order_relaxed);
	return verdict;
}

uint64_t keyring_count(const struct keyring *k, enum keyring_verdict verdict)
{
	CHECK(verdict < KEYRING_VERDICTS);
	return atomic_load_explicit(&k->counts[verdict], memory_order_relaxed);
}

static void sign_with(
	const struct signing_key *key, struct text text, struct keyring_signature *signature)
{
	CHECK(crypto_generichash(signature->bytes, sizeof signature->bytes,
		      (const uint8_t *)text.data, text.size, key->bytes, sizeof key->bytes) == 0);
}

bool keyring_sign(struct keyring *k, struct text text, struct keyring_signature *signature)
{
	pthread_mutex_lock(&k->signing_lock);
	bool can = k->can_sign;
	struct signing_key key = k->signing;
	pthread_mutex_unlock(&k->signing_lock);
	if (can)
		sign_with(&key, text, signature);
	sodium_memzero(&key, sizeof key);
	return can;
}

bool keyring_verify(struct keyring *k, struct text text, const struct keyring_signature *signature)
{
	struct keyring_signature expected;
	bool is_its = false;
	pthread_mutex_lock(&k->lock);
	for (uint32_t i = 0; i < k->keys.count; i++) {
		struct signing_key key = signing_key_of(&k->keys.keys[i]);
		sign_with(&key, text, &expected);
		is_its |=
			sodium_memcmp(expected.bytes, signature->bytes, sizeof expected.bytes) == 0;
		sodium_memzero(&key, sizeof key);
	}
	pthread_mutex_unlock(&k->lock);
	return is_its;
}

uint64_t keyring_changes(const struct keyring *k)
{
	return atomic_load(&k->changes);
}
