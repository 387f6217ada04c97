// Headers that the configuration adds to every answer (http.response_headers).
#pragma once
#include "tools/api/server/request.h"

// Adds those that the answer does not have: call it last. What the page and another server say of their answers stands.
void more_headers_put(const struct request *, struct MHD_Response *);
