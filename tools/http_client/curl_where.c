#include "tools/http_client/curl_where.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

#define HOST_LINE_BYTES 512u

static bool is_given(const char *text)
{
	return text && *text;
}

void curl_where_free(struct curl_where *w)
{
	free(w->url);
	curl_slist_free_all(w->connect_to);
}

static char *join_url(const char *first, const char *second)
{
	size_t size = strlen(first) + strlen(second) + 1;
	char *joined = memory_take(size);
	snprintf(joined, size, "%s%s", first, second);
	return joined;
}

static bool set_socket(CURL *curl, const struct http_request *r, struct curl_where *w)
{
	const char *socket = r->url + sizeof CURL_WHERE_SOCKET - 1;
	// libcurl would answer with "out of memory".
	if (*socket != '/' || strlen(socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
		return false;
	w->url = join_url("http://localhost", r->path ? r->path : "/");
	curl_set(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
	return true;
}

// libcurl takes the name that it asks for and verifies from the URL: the URL gets it, and what the URL had is where the
// connection goes, and the Host of the request as ever.
static bool rename_host(struct curl_where *w, const char *name, struct curl_slist **headers)
{
	CURLU *parts = curl_url();
	char *host = NULL, *port = NULL, *url = NULL, text[HOST_LINE_BYTES];
	bool good = parts && curl_url_set(parts, CURLUPART_URL, w->url, 0) == CURLUE_OK &&
		    curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		    curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		    curl_url_set(parts, CURLUPART_HOST, name, 0) == CURLUE_OK &&
		    curl_url_get(parts, CURLUPART_URL, &url, 0) == CURLUE_OK;
	if (good) {
		snprintf(text, sizeof text, "::%s:%s", host, port);
		w->connect_to = curl_line_add(NULL, text);
		snprintf(text, sizeof text, "Host: %s:%s", host, port);
		*headers = curl_line_add(*headers, text);
		free(w->url);
		w->url = text_copy(text_of(url));
	}
	curl_free(host);
	curl_free(port);
	curl_free(url);
	curl_url_cleanup(parts);
	return good;
}

bool curl_where_set(
	CURL *curl, const struct http_request *r, struct curl_where *w, struct curl_slist **headers)
{
	bool is_secure = strncasecmp(r->url, "https://", 8) == 0;
	if (strncmp(r->url, CURL_WHERE_SOCKET, sizeof CURL_WHERE_SOCKET - 1) == 0) {
		if (!set_socket(curl, r, w))
			return false;
	} else
		w->url = join_url(r->url, r->path ? r->path : "");
	if (is_secure && r->tls && is_given(r->tls->server_name)) {
		if (!rename_host(w, r->tls->server_name, headers))
			return false;
		curl_set(curl, CURLOPT_CONNECT_TO, w->connect_to);
	}
	curl_set(curl, CURLOPT_URL, w->url);
	return true;
}

enum http_trouble curl_where_trouble(CURLcode code, const struct http_request *r)
{
	bool is_secure = strncasecmp(r->url, "https:", 6) == 0;
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR: return HTTP_TROUBLE_TRUST;
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE: return HTTP_TROUBLE_OWN_FILE;
	case CURLE_SSL_CONNECT_ERROR: return HTTP_TROUBLE_TLS;
	// TLS 1.3: the client is through with the handshake when the server says what it thinks of its certificate.
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR: return is_secure ? HTTP_TROUBLE_TLS : HTTP_TROUBLE_REACHING;
	case CURLE_GOT_NOTHING:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL: return is_secure ? HTTP_TROUBLE_TLS : HTTP_TROUBLE_PLAIN;
	default: return HTTP_TROUBLE_REACHING;
	}
}
