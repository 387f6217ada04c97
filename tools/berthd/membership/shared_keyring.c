#include "tools/berthd/membership/shared_keyring.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "tools/keyring/keyring.h"
#include "tools/keyring/keyring_share.h"
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#define SHARED_NAME "keyring"

_Static_assert(MASTER_KEY_BYTES == KEYRING_SECRET_BYTES, "a master key is the secret");

static bool tell_keys(
	void *context, const struct keyring_keys *keys, char *message, uint32_t message_size)
{
	struct berthd *b = context;
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX];
	struct master_keys masters = berthd_keys(b);
	size_t size = keyring_share_seal(keys, masters.keys[0].id, masters.keys[0].bytes, sealed);
	explicit_bzero(&masters, sizeof masters);
	int error = cluster_tell(b->cluster, SHARED_NAME, sealed, (uint32_t)size);

	if (error != 0)
		snprintf(message, message_size,
			"the keyring could not be told to the cluster: %s; nothing was changed",
			error == -ESTALE ? "this member does not lead" : error_text(error));
	return error == 0;
}

static const uint8_t *secret_of(const struct master_keys *keys, uint8_t id)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->keys[i].id == id)
			return keys->keys[i].bytes;
	return NULL;
}

// 0; -ENOENT: there is none yet; or another error and a sentence. The caller wipes the keys.
static int ask_keys(
	struct berthd *b, struct keyring_keys *keys, char *message, uint32_t message_size)
{
	void *sealed;
	uint32_t size;
	int error = cluster_ask(b->cluster, SHARED_NAME, &sealed, &size);

	if (error != 0) {
		snprintf(message, message_size, "the keyring of the cluster cannot be read: %s",
			error_text(error));
		return error;
	}
	struct master_keys masters = berthd_keys(b);
	const uint8_t *secret = secret_of(&masters, keyring_share_number(sealed, size));
	if (!secret || !keyring_share_open(sealed, size, secret, keys) || keys->count == 0) {
		error = -ERROR_CORRUPT;
		snprintf(message, message_size,
			"the keyring of the cluster was sealed under a master key that %s does not "
			"have: "
			"give all members the same file",
			b->config.master_key_file);
	}
	explicit_bzero(&masters, sizeof masters);
	free(sealed);
	return error;
}

void shared_keyring_fetch(struct berthd *b)
{
	char path[CONFIG_PATH_BYTES + 16], message[BERTHD_REASON_BYTES],
		quoted[2 * BERTHD_REASON_BYTES];
	struct keyring_keys keys = {0};
	int error = ask_keys(b, &keys, message, sizeof message);

	config_keyring_path(&b->config, path);
	if (error == 0 && !keyring_file_write(path, &keys, message, sizeof message))
		error = -EIO;
	explicit_bzero(&keys, sizeof keys);
	if (error != 0 && error != -ENOENT)
		log_warn("keyring-not-fetched", "error=%s",
			log_quote(message, quoted, sizeof quoted));
}

void shared_keyring_open(struct berthd *b)
{
	keyring_publish_to(b->keyring, tell_keys, b);
}

static bool tell_own(struct berthd *b, char *message, uint32_t message_size)
{
	struct keyring_keys keys;

	keyring_copy(b->keyring, &keys);
	bool fine = keys.count == 0 || tell_keys(b, &keys, message, message_size);
	explicit_bzero(&keys, sizeof keys);
	return fine;
}

bool shared_keyring_take(struct berthd *b, bool leads, char *message, uint32_t message_size)
{
	struct keyring_keys keys = {0};
	int error = ask_keys(b, &keys, message, message_size);

	if (error == 0 && !keyring_adopt(b->keyring, &keys, message, message_size))
		error = -EIO;
	explicit_bzero(&keys, sizeof keys);
	if (error != -ENOENT)
		return error == 0;
	return !leads || tell_own(b, message, message_size);
}
