// Tokens that are being made: their secrets are drawn here, shown in the answer of the request, and never again.
#pragma once
#include "state/records/acl_token.h"
#include "tools/api/server/submission.h"

// Submits a command for the token, which it takes over. secret: of a new token; NULL: the token keeps the one that it
// has.
struct command *new_token_submit(
	struct request *, enum command_type, struct acl_token *, const struct uuid *secret);
// A secret of 122 random bits.
struct uuid new_token_secret(void);
// Answers with the token of a command that is done, and the secret if it is new.
void new_token_answer(struct request *, struct reply *);
