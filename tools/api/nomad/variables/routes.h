// Routes about variables, and about the keys that encrypt them. What is written says itself in which namespace, so its
// route asks for the right.
#pragma once
#include "tools/api/server/route.h"

#define VARIABLE_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                          \
	WATCH("/v1/vars", FILTERED, variables_list, variables_watched)                            \
	WATCH("/v1/var/:path", VARIABLE_READ, variable_read, variable_watched)                    \
	WRITE("PUT", "/v1/var/:path", FILTERED, variable_put, variable_was_put)                   \
	WRITE("DELETE", "/v1/var/:path", VARIABLE_DESTROY, variable_delete, variable_was_deleted) \
	READ("/v1/operator/keyring/keys", MANAGEMENT, keyring_keys_list)                          \
	ASK("PUT", "/v1/operator/keyring/rotate", MANAGEMENT, keyring_key_add)                    \
	ASK("DELETE", "/v1/operator/keyring/key/:id", MANAGEMENT, keyring_key_remove)

ROUTES_DECLARE(VARIABLE_ROUTES)
