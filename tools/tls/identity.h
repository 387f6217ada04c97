// The credentials of a server that go on to be used while their files change.
#pragma once
#include "tools/tls/credentials.h"

struct identity;

// Loads them. NULL and a sentence, as credentials_load.
struct identity *identity_create(
	const struct credentials_files *, int64_t now_s, char *message, uint32_t message_size);
void identity_destroy(
	struct identity *); // NULL is fine; connections may still share the credentials
// Loads the files anew: for connections that come from now on. False and a sentence: they get what they got before.
bool identity_renew(struct identity *, int64_t now_s, char *message, uint32_t message_size);
// Any thread. The caller releases.
struct credentials *identity_share(struct identity *);
