// Secrets of tokens as requests show them: UUIDs. Only what they hash to is stored.
#pragma once
#include "state/records/acl_token.h"

// False when the text is no UUID.
bool acl_secret_hash(const char *text, struct acl_secret_hash *);
// The same of a secret that is just being made.
void acl_secret_hash_of(const struct uuid *secret, struct acl_secret_hash *);
