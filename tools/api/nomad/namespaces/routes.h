// Routes about namespaces.
#pragma once
#include "tools/api/server/route.h"

#define NAMESPACE_ROUTES(READ, WATCH, TABLE, LIST, ONE, WRITE, ASK)                     \
	WATCH("/v1/namespaces", FILTERED, namespaces_list, namespaces_watched)          \
	WRITE("PUT", "/v1/namespaces", MANAGEMENT, namespace_put, namespace_was_put)    \
	WRITE("PUT", "/v1/namespace", MANAGEMENT, namespace_put, namespace_was_put)     \
	WATCH("/v1/namespace/:id", FILTERED, namespace_read, namespace_watched)         \
	WRITE("PUT", "/v1/namespace/:id", MANAGEMENT, namespace_put, namespace_was_put) \
	WRITE("DELETE", "/v1/namespace/:id", MANAGEMENT, namespace_delete, namespace_was_deleted)

ROUTES_DECLARE(NAMESPACE_ROUTES)
