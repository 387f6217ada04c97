// Policies that count together: those of a token, its roles' too, or of a task, with what it may as such. They are
// merged once, whatever tokens have them.
#pragma once
#include "state/records/acl_policy.h"
#include "tools/acl/acl.h"
#include <stdatomic.h>

struct state;
struct acl_token;

// Records are valid under the read lock in which they were collected.
struct policy_set {
	const struct acl_policy **items; // by name, each once
	uint32_t count, capacity;
	const struct acl_task *task; // NULL: they are no task's
};

// Which versions of which policies: BLAKE2b, so that two sets are the same if theirs are.
struct policy_fingerprint {
	uint8_t bytes[32];
};

// What a set of policies allows; shared by all who have the set.
struct merged_policies {
	struct policy_fingerprint fingerprint;
	const struct acl *acl;
	_Atomic uint32_t holders;
};

// Collects the policies of a token; NULL: that of whoever shows none. Under read lock.
void policy_set_collect(struct policy_set *, const struct state *, const struct acl_token *);
// Collects the policies that name the task's job, and what is in it. Views the task. Under read lock.
void policy_set_collect_of_task(struct policy_set *, const struct state *, const struct acl_task *);
void policy_set_free(struct policy_set *);
void policy_set_fingerprint(const struct policy_set *, struct policy_fingerprint *);
// Merges them. Under read lock. Release it with merged_policies_release().
struct merged_policies *policy_set_merge(
	const struct policy_set *, const struct policy_fingerprint *);

struct merged_policies *merged_policies_hold(
	struct merged_policies *); // one more holder; NULL stays NULL
void merged_policies_release(struct merged_policies *);
