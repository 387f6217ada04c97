// Tokens by accessor and by the hash of their secret, and the mark that there was a first one. For state/ only; readers
// use state_acl_token().
#pragma once
#include "state/records/acl_token.h"
#include "state/tables/table.h"

struct acl_token_cell {
	CELL_OF(struct acl_token, struct uuid id);
	struct acl_secret_hash secret; // of all its records
	struct cds_lfht_node by_secret;
};

extern const struct kind acl_token_kind, acl_bootstrap_kind;

// The working record of the token that has the secret; NULL: none has. Applier thread only.
const struct acl_token *acl_token_working(const struct state *, const struct acl_secret_hash *);
// The working token of the account of that name; NULL: there is none. Looks at all tokens, as accounts seldom come.
const struct acl_token *acl_account_working(const struct state *, struct text name);
const struct acl_bootstrap *acl_bootstrap_working(const struct state *);
