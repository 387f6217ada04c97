// Routes about service accounts, like Orchard's.
#pragma once
#include "tools/api/server/route.h"

#define ACCOUNT_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)                           \
	TABLE("/v1/service-accounts", VM_ADMIN_READ, accounts_list, STATE_ACL_TOKENS)             \
	WRITE("PUT", "/v1/service-accounts", VM_ADMIN_WRITE, account_add, account_added)          \
	TABLE("/v1/service-accounts/:id", VM_ADMIN_READ, account_read, STATE_ACL_TOKENS)          \
	WRITE("PUT", "/v1/service-accounts/:id", VM_ADMIN_WRITE, account_change, account_changed) \
	WRITE("DELETE", "/v1/service-accounts/:id", VM_ADMIN_WRITE, account_remove, account_removed)

ROUTES_DECLARE(ACCOUNT_ROUTES)
