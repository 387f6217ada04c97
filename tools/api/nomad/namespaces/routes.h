// Routes about namespaces and their quotas. "usage" comes before the quotas, because it could be one.
#pragma once
#include "tools/api/server/route.h"

#define NAMESPACE_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK, NODE)               \
	WATCH("/v1/namespaces", FILTERED, namespaces_list, namespaces_watched)          \
	WRITE("PUT", "/v1/namespaces", MANAGEMENT, namespace_put, namespace_was_put)    \
	WRITE("PUT", "/v1/namespace", MANAGEMENT, namespace_put, namespace_was_put)     \
	WATCH("/v1/namespace/:id", FILTERED, namespace_read, namespace_watched)         \
	WRITE("PUT", "/v1/namespace/:id", MANAGEMENT, namespace_put, namespace_was_put) \
	WRITE("DELETE", "/v1/namespace/:path", MANAGEMENT, namespace_delete,            \
		namespace_was_deleted)                                                  \
	WATCH("/v1/quotas", QUOTA_READ, quotas_list, quotas_watched)                    \
	READ("/v1/quota-usages", QUOTA_READ, quota_usages)                              \
	READ("/v1/quota/usage/:id", QUOTA_READ, quota_usage)                            \
	WATCH("/v1/quota/:id", QUOTA_READ, quota_read, quotas_watched)                  \
	WRITE("PUT", "/v1/quota", QUOTA_WRITE, quota_put, quota_was_changed)            \
	WRITE("PUT", "/v1/quota/:id", QUOTA_WRITE, quota_put, quota_was_changed)        \
	WRITE("DELETE", "/v1/quota/:id", QUOTA_WRITE, quota_delete, quota_was_changed)

ROUTES_DECLARE(NAMESPACE_ROUTES)
