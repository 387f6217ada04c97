// All routes of the API: the folders' tables, one after the other.
#pragma once
#include "tools/api/server/route.h"

extern const struct route_table api_routes;
