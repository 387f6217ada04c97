// The API described for programs: OpenAPI 3.1.
#pragma once
#include "tools/api/server/route.h"
#include "tools/json/json_writer.h"

void openapi_write(struct json_writer *, const struct route_table *);
