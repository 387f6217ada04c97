// How the server describes itself.
#pragma once
#include "tools/api/server/request.h"

// The version of Nomad that this API follows; tools compare it.
#define API_NOMAD_VERSION "1.1.2"
#define API_LEADER_BYTES 300u

// "HOST:PORT".
void leader_address(const struct api *, char text[static API_LEADER_BYTES]);
