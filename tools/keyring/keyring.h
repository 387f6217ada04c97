// The keys that variables are encrypted with, newest first: the newest encrypts, all decrypt. They are in a file of
// their own beside the data (keyring_file.h), never in the state. Any thread.
//
// XChaCha20-Poly1305 (libsodium). A nonce of 24 random bytes is drawn for each encryption: so many may be drawn under
// one key that two of them never meet. What is not encrypted but vouched for: a label, the id of the key, and the name
// of the variable, so that what was encrypted under one name opens under no other.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "tools/keyring/keyring_file.h"

struct keyring;

// In memory alone, with one random key.
struct keyring *keyring_create(void);
// From a file. One that is missing is made with may_make, else the keyring has no keys, and the sentence says why. NULL
// and a sentence when the file is there but is none, may be read by others, or cannot be made. Else the sentence is "".
struct keyring *keyring_open(const char *path, bool may_make, char *message, uint32_t message_size);
void keyring_destroy(struct keyring *); // NULL is fine

// What is known of a key.
struct keyring_entry {
	struct uuid id; // follows from the key
	int64_t create_time_ns;
	bool is_retired; // what it encrypts is to be encrypted anew (rekeyer.h)
};
// Newest first; none at all after the file was lost. Returns their number.
uint32_t keyring_list(struct keyring *, struct keyring_entry entries[static KEYRING_KEYS_MAX]);
// Makes a new key, writes the file anew, and encrypts with it from then on; with retires all others are retired. False
// and a sentence: all is as it was.
bool keyring_rotate(struct keyring *, int64_t now_ns, bool retires, struct keyring_entry *,
	char *message, uint32_t message_size);
// Tells the keys to others before the keyring uses them. False and a sentence: nothing changes.
typedef bool keyring_publish(
	void *context, const struct keyring_keys *, char *message, uint32_t message_size);
// Before other threads use the keyring.
void keyring_publish_to(struct keyring *, keyring_publish *, void *context);
// All keys, which the caller wipes; and all keys of another keyring in the place of the own, written into the file.
// False and a sentence: all is as it was.
void keyring_copy(struct keyring *, struct keyring_keys *);
bool keyring_adopt(
	struct keyring *, const struct keyring_keys *, char *message, uint32_t message_size);
bool keyring_has(struct keyring *, const struct uuid *id);
// Nobody can make the keyring forget the key until another is held, or none (NULL). False: it has no such key.
bool keyring_hold(struct keyring *, const struct uuid *id);
// Forgets a key, unless it is the newest, is held, or is_used says that it still encrypts something: that is asked
// while no other thread gets a key, so whoever stored what was sealed with it asks keyring_has() afterwards, and knows.
// One that is not there is as good as forgotten. False and a sentence: all is as it was.
typedef bool keyring_is_used(void *context, const struct uuid *id);
bool keyring_forget(struct keyring *, const struct uuid *id, keyring_is_used *, void *context,
	char *message, uint32_t message_size);

// Encrypts with the newest key. A nonce and what is encrypted, in base64 (caller frees); NULL: there is no key.
char *keyring_seal(
	struct keyring *, struct text name, const void *plain, size_t size, struct uuid *key);
enum keyring_verdict {
	KEYRING_OPENED,
	KEYRING_NO_KEY,   // the keyring has no such key
	KEYRING_TAMPERED, // not what was encrypted with this key under this name
	KEYRING_VERDICTS
};
// Decrypts into new memory, which the caller wipes and frees.
enum keyring_verdict keyring_unseal(struct keyring *, struct text name, const struct uuid *key,
	const char *sealed, uint8_t **plain, size_t *size);

#define KEYRING_SIGNATURE_BYTES 32u
struct keyring_signature {
	uint8_t bytes[KEYRING_SIGNATURE_BYTES];
};
// Signs a text with a key that follows from the newest one (BLAKE2b). Never waits for the file. False: there is no key.
bool keyring_sign(struct keyring *, struct text, struct keyring_signature *);
// Whether it was signed with a key that the keyring has. It takes as long wherever signatures differ.
bool keyring_verify(struct keyring *, struct text, const struct keyring_signature *);
// Grows whenever a key comes or goes.
uint64_t keyring_changes(const struct keyring *);

// How often it was not opened, for this reason, since the start.
uint64_t keyring_count(const struct keyring *, enum keyring_verdict);
