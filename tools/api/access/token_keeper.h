// Who shows which token: secrets of requests to what their tokens allow. What was found is kept until tokens, roles or
// policies change.
#pragma once
#include "state/base/uuid.h"
#include "tools/acl/acl.h"
#include <stdatomic.h>

struct keyring;
struct state;
struct token_keeper;
struct merged_policies;

// What one token allows; shared by the requests that show it.
struct access {
	const struct acl *acl;
	struct uuid accessor;       // zero: nobody showed a token; of a task: its allocation's id
	int64_t expiration_time_ns; // 0: never
	uint64_t
		token_index; // of the token's last change; of a task: keyring_changes() when it was looked at
	struct merged_policies *merged; // owns the acl; NULL: of a management token
	_Atomic uint32_t holders;
	bool is_of_task; // it holds as long as its allocation runs
};
// Ten thousand are in use in turn: with the heap's word each is one cache line.
_Static_assert(sizeof(struct access) <= 56, "one cache line");

enum token_verdict {
	TOKEN_NOT_ASKED, // access control is off
	TOKEN_GOOD,
	TOKEN_UNKNOWN,
	TOKEN_MALFORMED,
	TOKEN_EXPIRED,
};

// The keyring made the tokens that tasks show; NULL: there are none. is_forced: access control is on although no token
// was ever made.
struct token_keeper *token_keeper_create(const struct state *, struct keyring *, bool is_forced);
void token_keeper_destroy(struct token_keeper *); // after the last request
// secret: as a request shows it, NULL: it shows none. When good or expired, *access is to be released with
// access_release(). Any thread, under no read lock.
enum token_verdict token_keeper_find(
	struct token_keeper *, const char *secret, int64_t now_ns, struct access **access);

// What a task of an allocation may that runs on the node, whoever shows a token or not. NULL: none of that name is
// there. To be released. Any thread, under no read lock.
struct access *token_keeper_of_task(struct token_keeper *, const struct uuid *node,
	const struct uuid *allocation, const char *task);

// Whether its token is still there, or its allocation runs; somebody without a token stays who he is. Under read lock.
bool access_is_alive(const struct state *, const struct access *);
struct access *access_hold(struct access *); // one more holder; NULL stays NULL
void access_release(struct access *);
