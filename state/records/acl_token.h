// Tokens of access control. Of the secret, which a request shows to be let in, only a hash is stored: who reads the
// store cannot use it. Secrets have 122 random bits, so a fast hash is as good as a slow one.
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/record.h"

enum acl_token_type {
	ACL_CLIENT,     // may what its policies and roles allow
	ACL_MANAGEMENT, // may everything; has neither policies nor roles
	ACL_TOKEN_TYPES
};
extern const char *const acl_token_type_names[]; // "client" "management" NULL

struct acl_secret_hash { // BLAKE2b-256 of the secret's 16 bytes
	uint8_t bytes[32];
};

struct acl_token {
	struct record record; // first
	struct uuid accessor;
	struct acl_secret_hash secret; // of no other token
	char *name;
	int type;              // enum acl_token_type
	struct array policies; // char *; a policy need not be there
	struct array roles;    // struct uuid; some may be gone by now
	bool global;
	int64_t create_time_ns;
	int64_t expiration_time_ns; // 0: never
	int64_t expiration_ttl_ns;  // as it was asked for; 0: none, or a time instead
};

// That a first token was made, and by which change. There is always one record; its index 0 says that there was none.
struct acl_bootstrap {
	struct record record; // first
	struct uuid accessor;
	uint64_t reset_index; // of the newest first token; whoever names it may make one more
};

extern const struct record_type acl_token_description, acl_bootstrap_description;

static inline bool acl_secret_equal(
	const struct acl_secret_hash *a, const struct acl_secret_hash *b)
{
	uint8_t differ = 0; // it takes as long wherever they differ
	for (uint32_t i = 0; i < sizeof a->bytes; i++)
		differ |= a->bytes[i] ^ b->bytes[i];
	return differ == 0;
}
static inline bool acl_token_is_expired(const struct acl_token *token, int64_t now_ns)
{
	return token->expiration_time_ns != 0 && token->expiration_time_ns <= now_ns;
}
// Whether a type may have so many policies and roles together.
bool acl_token_type_fits(int type, uint32_t links);
// Policies whose names have a colon are roles of accounts, such as "compute:read": nobody makes one of such a name.
bool acl_policy_is_role(const char *name);
// An account of Orchard's clients: a client token with a name, which no other account has, and nothing but such roles.
bool acl_token_is_account(const struct acl_token *token);
// Whether an update may lead from one to the other: what identifies a token, and its end, never change.
bool acl_token_goes_on(const struct acl_token *before, const struct acl_token *after);
