// How the server describes itself.
#pragma once
#include "tools/api/server/request.h"

#define API_LEADER_BYTES 300u

// "HOST:PORT".
void leader_address(const struct api *, char text[static API_LEADER_BYTES]);
