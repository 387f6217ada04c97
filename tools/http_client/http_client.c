#include "tools/http_client/http_client.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "tools/http_client/curl_tls.h"
#include "tools/http_client/curl_where.h"
#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(HTTP_ERROR_BYTES >= CURL_ERROR_SIZE, "what libcurl says fits");

#define TOKEN_HEADER_BYTES 640u

struct http_client {
	CURL *curl;
};

struct transfer {
	const struct http_request *request;
	CURL *curl;
};

struct http_client *http_client_create(void)
{
	CURL *curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
			     ? CAN_BREAK(CLIENT_HANDLE, NULL, curl_easy_init())
			     : NULL;
	if (!curl)
		return NULL;
	struct http_client *client = memory_take(sizeof *client);
	client->curl = curl;
	return client;
}

void http_client_destroy(struct http_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->curl);
	free(client);
}

static size_t on_body(char *data, size_t each, size_t count, void *context)
{
	const struct transfer *t = context;
	size_t size = each * count;
	long status = 0;
	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	return t->request->take_body(t->request->context, status, data, size) ? size : 0;
}

static size_t on_header(char *data, size_t each, size_t count, void *context)
{
	const struct transfer *t = context;
	t->request->take_header(t->request->context, data, each * count);
	return each * count;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct transfer *t = context;
	return t->request->is_cancelled(t->request->context);
}

static struct curl_slist *headers_of(const struct http_request *r)
{
	char token[TOKEN_HEADER_BYTES];
	struct curl_slist *headers = NULL;
	if (r->body || r->names_json)
		headers = curl_line_add(headers, "Content-Type: application/json");
	if (r->token && *r->token) {
		snprintf(token, sizeof token, "X-Nomad-Token: %s", r->token);
		headers = curl_line_add(headers, token);
		explicit_bzero(token, sizeof token);
	}
	return headers;
}

bool http_url_is_fit(const char *url)
{
	static const char *const schemes[] = {"http://", "https://", CURL_WHERE_SOCKET "/"};
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0 &&
			url[strlen(schemes[i])])
			return true;
	return false;
}

static void set_callbacks(CURL *curl, struct transfer *t)
{
	curl_set(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_set(curl, CURLOPT_WRITEDATA, t);
	if (t->request->take_header) {
		curl_set(curl, CURLOPT_HEADERFUNCTION, on_header);
		curl_set(curl, CURLOPT_HEADERDATA, t);
	}
	if (t->request->is_cancelled) {
		curl_set(curl, CURLOPT_NOPROGRESS, 0L);
		curl_set(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
		curl_set(curl, CURLOPT_XFERINFODATA, t);
	}
}

static void set_request(CURL *curl, const struct http_request *r, struct curl_slist *headers)
{
	curl_set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_NOSIGNAL, 1L);
	curl_set(curl, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
	curl_set(curl, CURLOPT_HTTPHEADER, headers);
	if (r->agent)
		curl_set(curl, CURLOPT_USERAGENT, r->agent);
	if (r->method)
		curl_set(curl, CURLOPT_CUSTOMREQUEST, r->method);
	if (r->body_file) {
		curl_set(curl, CURLOPT_UPLOAD, 1L);
		curl_set(curl, CURLOPT_READDATA, r->body_file);
		curl_set(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->body_size);
	} else if (r->body) {
		curl_set(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
		curl_set(curl, CURLOPT_POSTFIELDS, r->body);
	}
}

bool http_client_ask(
	struct http_client *client, const struct http_request *request, struct http_result *result)
{
	CURL *curl = client->curl;
	struct transfer transfer = {request, curl};
	struct curl_slist *headers = headers_of(request);
	struct curl_where where = {0};
	*result = (struct http_result){.kind = ""};
	curl_easy_reset(curl);
	curl_set(curl, CURLOPT_ERRORBUFFER, result->error);
	CURLcode code =
		curl_where_set(curl, request, &where, &headers) ? CURLE_OK : CURLE_URL_MALFORMAT;
	set_request(curl, request, headers);
	curl_tls_set(curl, request->tls);
	set_callbacks(curl, &transfer);
	if (code == CURLE_OK)
		code = CAN_BREAK(CLIENT_ASK, CURLE_RECV_ERROR, curl_easy_perform(curl));
	curl_slist_free_all(headers);
	curl_where_free(&where);
	if (code == CURLE_OK) {
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &result->status);
		return true;
	}
	result->trouble = curl_where_trouble(code, request);
	result->kind = curl_easy_strerror(code);
	if (!*result->error)
		snprintf(result->error, sizeof result->error, "%s", result->kind);
	return false;
}

void http_beginning_take(struct http_beginning *b, const char *data, size_t size)
{
	size_t left = b->room - 1 - b->size;
	size_t kept = size < left ? size : left;
	memcpy(b->text + b->size, data, kept);
	b->size += kept;
	b->text[b->size] = '\0';
}

char *http_escape(const char *text, char *buffer, size_t size)
{
	static const char plain[] = "-._~";
	size_t at = 0;
	for (; *text && at + 4 <= size; text++) {
		unsigned char c = (unsigned char)*text;
		if (isalnum(c) || strchr(plain, c))
			buffer[at++] = (char)c;
		else
			at += (size_t)snprintf(buffer + at, size - at, "%%%02X", c);
	}
	buffer[at] = '\0';
	return buffer;
}
