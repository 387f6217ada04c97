// Bodies that describe an account.
#pragma once
#include "state/base/array.h"
#include "tools/api/server/reply.h"
#include <jansson.h>

struct account_form {
	char *name, *token; // NULL: not said
	struct array roles; // char *
};

// Reads the body and checks it. False with a reply that says what is wrong. Release the form in either case.
bool account_form_read(struct account_form *, json_t *body, struct reply *);
void account_form_release(struct account_form *);
