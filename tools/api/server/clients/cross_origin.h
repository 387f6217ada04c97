// Pages of other sites that may read here (http.origins): their browser is told so, on the routes on which Nomad's
// clients are. It asks before, with OPTIONS, when the page wants to send a token.
#pragma once
#include "tools/api/server/request.h"

// Whether the page of another site may send this: it may read.
bool cross_origin_may(const struct request *, const char *method, const char *origin);
// Whether a browser asks what a page may send, which is answered with 204 and the headers alone. url: as it was sent.
bool cross_origin_is_asked(struct request *, const char *method, const char *url);
// Adds what the browser has to know. Nothing for requests of no other site, and on other routes.
void cross_origin_put(const struct request *, struct MHD_Response *);
