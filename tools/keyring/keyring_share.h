// A keyring on its way to the other controllers of a cluster: its keys, encrypted with what follows from a secret that
// all of them have. Bytes:
//
//	u8 number of the secret, 24 bytes nonce, and encrypted (XChaCha20-Poly1305): for each key 32 bytes,
//	i64 when it was made, u8 whether it is retired
#pragma once
#include "tools/keyring/keyring_file.h"
#include <stddef.h>

#define KEYRING_SECRET_BYTES 32u
#define KEYRING_SHARE_BYTES_MAX (1 + 24 + KEYRING_KEYS_MAX * (KEYRING_KEY_BYTES + 8 + 1) + 16)

// Returns the size of what it writes.
size_t keyring_share_seal(const struct keyring_keys *, uint8_t number,
	const uint8_t secret[static KEYRING_SECRET_BYTES],
	uint8_t sealed[static KEYRING_SHARE_BYTES_MAX]);
// The number of the secret that it was sealed with; 0: it is nothing of this kind.
uint8_t keyring_share_number(const uint8_t *sealed, size_t size);
// False: it is not what was sealed with this secret. The caller wipes the keys.
bool keyring_share_open(const uint8_t *sealed, size_t size,
	const uint8_t secret[static KEYRING_SECRET_BYTES], struct keyring_keys *);
