// Bodies that ask for a token, or for changes of one.
#pragma once
#include "state/records/acl_token.h"
#include "tools/api/server/request.h"
#include "tools/json/json_reader.h"

// The token that the body asks for, checked; a new one has its times but no secret, another one its accessor. NULL with
// a reply that says what is wrong, all of it at once. Caller frees.
struct acl_token *acl_token_read_form(const struct request *, json_t *body, struct reply *);
