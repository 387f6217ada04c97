#include "tools/api/server/clients/cross_origin.h"
#include "tools/api/server/clients/hosts.h"
#include <stdlib.h>
#include <string.h>

#define METHOD_HEADER "Access-Control-Request-Method"
#define NAMES_HEADER "Access-Control-Request-Headers"

static const char *cross_origin_header(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

bool cross_origin_may(const struct request *request, const char *method, const char *origin)
{
	bool is_read = strcmp(method, "GET") == 0 || strcmp(method, "OPTIONS") == 0;
	return is_read && origin_is_known(text_of(origin), text_of(request->api->origins));
}

static bool is_for_pages(const struct route *route)
{
	static const char *const beginnings[] = {"/v1/client/", "/v1/vars", "/v1/var/"};
	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (strncmp(route->pattern, beginnings[i], strlen(beginnings[i])) == 0)
			return strcmp(route->pattern, "/v1/client/gc") != 0;
	return false;
}

// The site that is to be told; NULL: none.
static const char *site_of(const struct request *request)
{
	const char *origin = cross_origin_header(request, MHD_HTTP_HEADER_ORIGIN);
	bool is_known = origin && origin_is_known(text_of(origin), text_of(request->api->origins));
	return is_known && request->route && is_for_pages(request->route) ? origin : NULL;
}

bool cross_origin_is_asked(struct request *request, const char *method, const char *url)
{
	const char *asked = cross_origin_header(request, METHOD_HEADER);
	if (strcmp(method, "OPTIONS") != 0 || !asked)
		return false;
	free(request->path);
	request->path = text_copy(text_of(url));
	if (route_find(request->api->routes, asked, request->path, &request->route, request->ids) !=
		ROUTE_FOUND) {
		request->route = NULL;
		return false;
	}
	request->asks_for_page = site_of(request) != NULL;
	return request->asks_for_page;
}

static void put_cross_header(struct MHD_Response *response, const char *name, const char *value)
{
	// Fails only without memory, and then the browser refuses.
	(void)MHD_add_response_header(response, name, value);
}

void cross_origin_put(const struct request *request, struct MHD_Response *response)
{
	const char *site = site_of(request);
	const char *names = cross_origin_header(request, NAMES_HEADER);
	if (!site)
		return;
	put_cross_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ORIGIN);
	if (request->asks_for_page) {
		put_cross_header(response, MHD_HTTP_HEADER_VARY, METHOD_HEADER);
		put_cross_header(response, MHD_HTTP_HEADER_VARY, NAMES_HEADER);
	}
	if (strcmp(request->route->method, "GET") != 0)
		return;
	if (request->asks_for_page)
		put_cross_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS, "GET");
	if (request->asks_for_page && names)
		put_cross_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS, names);
	bool is_any = strchr(request->api->origins, '*') != NULL;
	put_cross_header(
		response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, is_any ? "*" : site);
	put_cross_header(response, "Access-Control-Allow-Credentials", "true");
}
