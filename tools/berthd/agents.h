// Where nodes dial (docs/wire.md, The line): the socket, and the keys that they show.
#pragma once
#include "tools/berthd/daemon.h"

// Listens as agents.address and agents.port say, and has the dataplane tell nodes of it. Before the dataplane is
// created. False and a sentence, when an address was configured that cannot be had; the preset one is gone without.
bool agents_listen(struct berthd *, char *message, uint32_t message_size);
// The key of a node that dials, as api_settings.line_key. Any thread.
enum line_refusal agents_key(
	void *berthd, const struct psk_identity *, uint8_t key[static PSK_KEY_BYTES]);
// Of --check: whether it can be listened there. False and a sentence.
bool agents_check(const struct config *, char *message, uint32_t message_size);
