#include "tools/http_client/http_socket.h"
#include "state/base/base64.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/http_client/curl_tls.h"
#include "tools/http_client/curl_where.h"
#include "tools/web_socket/handshake.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define HEAD_BYTES_MAX (16u * 1024)
#define KEY_BYTES 16u
#define WAIT_FOR_EVER_MS (1000u * 60 * 60 * 24)

// Of one write: what a record of TLS holds.
#define WRITE_BYTES (16u * 1024)

struct http_socket {
	CURL *curl;
	uint8_t refused[WRITE_BYTES]; // that could not be written yet
	size_t refused_size;          // 0: none
	struct web_socket_stream stream;
	struct web_socket *messages;
};

static ssize_t read_curl(void *context, void *data, size_t size)
{
	const struct http_socket *s = context;
	size_t n = 0;
	CURLcode code = curl_easy_recv(s->curl, data, size, &n);
	if (code == CURLE_AGAIN)
		return -EAGAIN;
	return code == CURLE_OK ? (ssize_t)n : -EIO;
}

// OpenSSL wants what it did not take again from the same place and of the same size, while the caller's bytes move and
// become more.
static ssize_t write_curl(void *context, const void *data, size_t size)
{
	struct http_socket *s = context;
	size_t n = 0;
	if (!s->refused_size) {
		s->refused_size = size < WRITE_BYTES ? size : WRITE_BYTES;
		memcpy(s->refused, data, s->refused_size);
	}
	CHECK(s->refused_size <= size);
	CURLcode code = curl_easy_send(s->curl, s->refused, s->refused_size, &n);
	if (code == CURLE_AGAIN || (code == CURLE_OK && n == 0))
		return -EAGAIN;
	s->refused_size = 0;
	return code == CURLE_OK ? (ssize_t)n : -EIO;
}

// Talk over the connection until then.
struct opening {
	struct http_socket *socket;
	const struct http_request *request;
	struct http_result *result;
	uint64_t until_ns;
	char key[BASE64_ENCODED(KEY_BYTES) + 1];
	char head[HEAD_BYTES_MAX + 1];
	size_t size; // of what came, in head
};

__attribute__((format(printf, 2, 3))) static bool fail_opening(
	struct opening *o, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(o->result->error, sizeof o->result->error, format, arguments);
	va_end(arguments);
	o->result->kind = "no WebSocket was opened";
	return false;
}

static bool await_stream(struct opening *o, short events)
{
	struct pollfd polled = {.fd = o->socket->stream.fd, .events = events};
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	if (now_ns >= o->until_ns)
		return fail_opening(o, "no answer came in time");
	int count = poll(&polled, 1, (int)((o->until_ns - now_ns) / NS_PER_MS) + 1);
	return count >= 0 || errno == EINTR || fail_opening(o, "poll: %s", strerror(errno));
}

static bool send_all(struct opening *o, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write_curl(o->socket, data, size);
		if (n < 0 && n != -EAGAIN)
			return fail_opening(o, "the server closed the connection");
		if (n < 0 && !await_stream(o, POLLOUT))
			return false;
		data += n < 0 ? 0 : n;
		size -= n < 0 ? 0 : (size_t)n;
	}
	return true;
}

// More of the answer. False: there is no more, or no room.
static bool receive_some(struct opening *o)
{
	while (o->size < HEAD_BYTES_MAX) {
		ssize_t n = read_curl(o->socket, o->head + o->size, HEAD_BYTES_MAX - o->size);
		if (n == -EAGAIN && await_stream(o, POLLIN))
			continue;
		if (n == -EAGAIN)
			return false;
		if (n <= 0)
			return fail_opening(o, "the server closed the connection");
		o->size += (size_t)n;
		o->head[o->size] = '\0';
		return true;
	}
	return fail_opening(o, "the answer's head is too long");
}

// A header's value within the head, as long as it is; NULL: it is not there.
static const char *find_header(const char *head, const char *name)
{
	size_t size = strlen(name);
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, size) == 0 && line[size] == ':')
			return line + size + 1 + strspn(line + size + 1, " \t");
	}
	return NULL;
}

static void put_line(struct bytes_writer *w, const char *name, const char *value)
{
	bytes_put(w, name, strlen(name));
	bytes_put(w, value, strlen(value));
	bytes_put(w, "\r\n", 2);
}

// Path, query and host of what was asked for.
static bool put_target(
	struct bytes_writer *w, const struct curl_where *where, const struct curl_slist *headers)
{
	CURLU *parts = curl_url();
	char *path = NULL, *query = NULL, *host = NULL, *port = NULL;
	bool good = parts && curl_url_set(parts, CURLUPART_URL, where->url, 0) == CURLUE_OK &&
		    curl_url_get(parts, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
		    curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK;
	if (good) {
		(void)curl_url_get(parts, CURLUPART_QUERY, &query, 0);
		(void)curl_url_get(parts, CURLUPART_PORT, &port, 0);
		bytes_put(w, "GET ", 4);
		bytes_put(w, path, strlen(path));
		bytes_put(w, "?", query ? 1 : 0);
		bytes_put(w, query ? query : "", query ? strlen(query) : 0);
		put_line(w, "", " HTTP/1.1");
		// A Host that is another one comes with the headers.
		bool is_renamed = headers && strncmp(headers->data, "Host: ", 6) == 0;
		bytes_put(w, is_renamed ? headers->data : "Host: ",
			is_renamed ? strlen(headers->data) : 6);
		if (!is_renamed) {
			bytes_put(w, host, strlen(host));
			bytes_put(w, ":", port ? 1 : 0);
			bytes_put(w, port ? port : "", port ? strlen(port) : 0);
		}
		bytes_put(w, "\r\n", 2);
	}
	curl_free(path);
	curl_free(query);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(parts);
	return good;
}

static bool send_request(
	struct opening *o, const struct curl_where *where, const struct curl_slist *headers)
{
	struct bytes_writer w = bytes_writer_growing(1024);
	uint8_t key[KEY_BYTES] = {0};
	bool has_key = getrandom(key, sizeof key, 0) == sizeof key;
	bool good = has_key && put_target(&w, where, headers);
	base64_write(o->key, key, sizeof key);
	put_line(&w,
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: ",
		o->key);
	if (o->request->token && *o->request->token)
		put_line(&w, "X-Nomad-Token: ", o->request->token);
	put_line(&w, "User-Agent: ", o->request->agent ? o->request->agent : "berth");
	put_line(&w, "", "");
	good = good ? send_all(o, w.data, w.size)
		    : fail_opening(o, has_key ? "the URL is no good" : "there is no random key");
	explicit_bzero(w.data, w.size);
	bytes_writer_free(&w);
	return good;
}

// The answer that is no 101, as far as it is told how long it is.
static void receive_refusal(struct opening *o, size_t head, struct http_beginning *body)
{
	const char *length = find_header(o->head, "Content-Length");
	size_t whole = length ? strtoul(length, NULL, 10) : 0;
	while (o->size - head < whole && receive_some(o))
		;
	http_beginning_take(body, o->head + head, o->size - head);
	*o->result->error = '\0';
}

// *first: where what follows the head begins.
static bool receive_answer(struct opening *o, struct http_beginning *body, size_t *first)
{
	char accept[WEB_SOCKET_ACCEPT_BYTES];
	const char *end, *answer;
	while ((end = strstr(o->head, "\r\n\r\n")) == NULL)
		if (!receive_some(o))
			return false;
	*first = (size_t)(end + 4 - o->head);
	o->result->status = strncmp(o->head, "HTTP/1.", 7) == 0 ? strtol(o->head + 8, NULL, 10) : 0;
	if (o->result->status == 0)
		return fail_opening(o, "the server speaks no HTTP");
	if (o->result->status != 101) {
		receive_refusal(o, *first, body);
		return false;
	}
	answer = find_header(o->head, "Sec-WebSocket-Accept");
	if (!web_socket_accept(o->key, accept) || !answer ||
		strncmp(answer, accept, strlen(accept)) != 0) {
		o->result->status = 0;
		return fail_opening(o, "the server answers the handshake of WebSockets wrongly");
	}
	return true;
}

static bool connect_curl(struct opening *o, struct curl_where *where, struct curl_slist **headers)
{
	CURL *curl = o->socket->curl;
	curl_socket_t fd = CURL_SOCKET_BAD;
	curl_set(curl, CURLOPT_ERRORBUFFER, o->result->error);
	CURLcode code =
		curl_where_set(curl, o->request, where, headers) ? CURLE_OK : CURLE_URL_MALFORMAT;
	curl_set(curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_set(curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_set(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(curl, CURLOPT_NOSIGNAL, 1L);
	curl_set(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)o->request->timeout_ms);
	curl_tls_set(curl, o->request->tls);
	if (code == CURLE_OK)
		code = CAN_BREAK(CLIENT_ASK, CURLE_RECV_ERROR, curl_easy_perform(curl));
	if (code == CURLE_OK)
		code = curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &fd);
	o->socket->stream = (struct web_socket_stream){fd, read_curl, write_curl, o->socket};
	if (code == CURLE_OK && fd != CURL_SOCKET_BAD)
		return true;
	o->result->trouble = curl_where_trouble(code, o->request);
	o->result->kind = curl_easy_strerror(code);
	if (!*o->result->error)
		snprintf(o->result->error, sizeof o->result->error, "%s", o->result->kind);
	return false;
}

struct http_socket *http_socket_open(const struct http_request *request, size_t message_max,
	struct http_result *result, struct http_beginning *body)
{
	struct curl_slist *headers = NULL;
	struct curl_where where = {0};
	size_t first = 0;
	uint64_t wait_ms = request->timeout_ms ? request->timeout_ms : WAIT_FOR_EVER_MS;
	struct http_socket *s = memory_take(sizeof *s);
	struct opening *o = memory_take(sizeof *o);
	*result = (struct http_result){.kind = ""};
	*o = (struct opening){.socket = s,
		.request = request,
		.result = result,
		.until_ns = time_monotonic_ns(&time_source_real) + wait_ms * (uint64_t)NS_PER_MS};
	s->curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
			  ? CAN_BREAK(CLIENT_HANDLE, NULL, curl_easy_init())
			  : NULL;
	bool is_open = s->curl ? connect_curl(o, &where, &headers) &&
					 send_request(o, &where, headers) &&
					 receive_answer(o, body, &first)
			       : fail_opening(o, "libcurl cannot be set up");
	if (is_open)
		s->messages = web_socket_open(
			&s->stream, true, message_max, o->head + first, o->size - first);
	curl_slist_free_all(headers);
	curl_where_free(&where);
	explicit_bzero(o->head, sizeof o->head);
	free(o);
	if (!is_open) {
		http_socket_close(s);
		return NULL;
	}
	curl_set(s->curl, CURLOPT_ERRORBUFFER, NULL);
	return s;
}

void http_socket_close(struct http_socket *s)
{
	if (!s)
		return;
	web_socket_free(s->messages);
	curl_easy_cleanup(s->curl);
	explicit_bzero(s->refused, sizeof s->refused);
	free(s);
}

struct web_socket *http_socket_messages(struct http_socket *s)
{
	return s->messages;
}

const struct web_socket_stream *http_socket_stream(const struct http_socket *s)
{
	return &s->stream;
}
