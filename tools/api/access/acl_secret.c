#include "tools/api/access/acl_secret.h"
#include "state/base/check.h"
#include <sodium.h>

void acl_secret_hash_of(const struct uuid *secret, struct acl_secret_hash *hash)
{
	CHECK(crypto_generichash(hash->bytes, sizeof hash->bytes, secret->bytes,
		      sizeof secret->bytes, NULL, 0) == 0);
}

bool acl_secret_hash(const char *text, struct acl_secret_hash *hash)
{
	struct uuid secret;
	if (!uuid_parse(text, &secret))
		return false;
	acl_secret_hash_of(&secret, hash);
	sodium_memzero(&secret, sizeof secret);
	return true;
}
