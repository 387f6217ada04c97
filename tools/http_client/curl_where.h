// Where a request of libcurl goes, and what it means when it does not get there.
#pragma once
#include "tools/http_client/http_request.h"
#include <curl/curl.h>

#define CURL_WHERE_SOCKET "unix://"

// A URL, and what stands in for its host.
struct curl_where {
	char *url;
	struct curl_slist *connect_to;
};

// Sets the URL, the socket and what stands in for the host, and adds a Host to the headers where that is another.
// False: the URL is no good. Free it in both cases, after the request.
bool curl_where_set(
	CURL *, const struct http_request *, struct curl_where *, struct curl_slist **headers);
void curl_where_free(struct curl_where *);

enum http_trouble curl_where_trouble(CURLcode, const struct http_request *);
