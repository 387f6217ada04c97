// TLS of a request of libcurl, as the settings say.
#pragma once
#include "tools/http_client/http_tls.h"
#include <curl/curl.h>

// tls NULL: nothing but which versions may be spoken. The texts are copied.
void curl_tls_set(CURL *, const struct http_tls *);
