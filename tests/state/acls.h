// Access control as operators ask for it.
#pragma once
#include "state/records/acl_policy.h"
#include "state/records/acl_role.h"
#include "state/records/acl_token.h"
#include "tests/support/controller.h"

// What the secret of this number, 0 …, hashes to; as good as any, but in order.
struct acl_secret_hash number_secret(uint32_t number);

struct acl_policy *build_policy(const char *name, const char *rules);
// policies: names with blanks between, "" for none. An id of zero: a new one.
struct acl_role *build_role(struct uuid id, const char *name, const char *policies);
// A client token when there are policies, else a management token; an accessor of zero: a new one.
struct acl_token *build_token(
	const struct controller *, struct uuid accessor, uint32_t secret, const char *policies);

// These take over what they are given. id and accessor may be NULL.
enum command_outcome put_policy(struct controller *, struct acl_policy *);
enum command_outcome put_role(struct controller *, struct acl_role *, struct uuid *id);
enum command_outcome put_token(struct controller *, struct acl_token *, struct uuid *accessor);
// reset_index: 0, or of the first token that this one comes after. done_index may be NULL.
enum command_outcome put_first_token(struct controller *, struct acl_token *, uint64_t reset_index,
	struct uuid *accessor, uint64_t *done_index);

enum command_outcome delete_policy(struct controller *, const char *name);
enum command_outcome delete_role(struct controller *, struct uuid);
enum command_outcome delete_token(struct controller *, struct uuid);
// Collects tokens that expired before this time; returns how many.
uint32_t collect_tokens(struct controller *, int64_t before_ns);

// Copies of what is published, or NULL; the caller frees.
struct acl_policy *published_policy(const struct controller *, const char *name);
struct acl_role *published_role(const struct controller *, struct uuid);
struct acl_token *published_token(const struct controller *, struct uuid);
// The accessor of the published token that has the secret; zero: none has.
struct uuid accessor_of_secret(const struct controller *, uint32_t secret);
