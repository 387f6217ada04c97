// How libcurl asks the leader for an exchange.
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "tools/api/forward/forwarder_private.h"
#include "tools/http_client/curl_tls.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_TIMEOUT_MS 2000L
// Less than after what an idle connection is closed by the leader.
#define IDLE_CONNECTION_S 30L
// Of what a request has under way when its leader is a machine that went away without a word.
#define KEEP_ALIVE_S 5L

// On the forwarder's thread, as the next one.
static size_t on_head(char *line, size_t each, size_t count, void *context)
{
	struct exchange *x = context;
	bool was_whole = x->head.is_whole;

	if (!answer_head_take(&x->head, line, each * count))
		return 0;
	if (was_whole || !x->head.is_whole)
		return each * count;
	x->was_refused = x->head.is_of_follower;
	if (!x->was_refused)
		forwarder_turns(x->owner, x, EXCHANGE_ANSWERS);
	return each * count;
}

static size_t on_bytes(char *data, size_t each, size_t count, void *context)
{
	struct exchange *x = context;
	size_t size = each * count;

	if (x->was_refused || size == 0)
		return size;
	if (!exchange_take(x, data, size))
		return CURL_WRITEFUNC_PAUSE;
	forwarder_wake_reader(x->owner, x);
	return size;
}

static void set_lines(struct exchange *x)
{
	// libcurl would name a type, and ask for leave to send the body.
	struct curl_slist *lines = curl_line_add(NULL, "Expect:");
	bool has_type = false;
	for (uint32_t i = 0; i < x->header_count; i++) {
		lines = curl_line_add(lines, x->headers[i]);
		has_type = has_type || strncmp(x->headers[i], "Content-Type:", 13) == 0;
	}
	if (!has_type)
		lines = curl_line_add(lines, "Content-Type:");
	lines = curl_line_add(lines, "Accept:");
	x->lines = lines;
	curl_set(x->easy, CURLOPT_HTTPHEADER, lines);
}

// A leader that takes nothing of a request for so long is not there, though nobody says so.
static int limit_silence(void *context, curl_socket_t socket, curlsocktype purpose)
{
	const struct forwarder *f = context;
	unsigned silence_ms = f->settings.hold_ms;
	bool is_set = setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms,
			      sizeof silence_ms) == 0;
	return is_set ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

static void set_connection(struct forwarder *f, CURL *easy)
{
	curl_set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_set(easy, CURLOPT_PROXY, "");
	curl_set(easy, CURLOPT_NOSIGNAL, 1L);
	curl_set(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_set(easy, CURLOPT_MAXAGE_CONN, IDLE_CONNECTION_S);
	curl_set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_set(easy, CURLOPT_TCP_KEEPIDLE, KEEP_ALIVE_S);
	curl_set(easy, CURLOPT_TCP_KEEPINTVL, KEEP_ALIVE_S);
	curl_set(easy, CURLOPT_SOCKOPTFUNCTION, limit_silence);
	curl_set(easy, CURLOPT_SOCKOPTDATA, f);
	curl_tls_set(easy, &f->settings.tls);
}

// The leader's URL says where; the target is sent as it came.
static void set_request(struct exchange *x, const char *url)
{
	curl_set(x->easy, CURLOPT_URL, url);
	curl_set(x->easy, CURLOPT_REQUEST_TARGET, x->target);
	curl_set(x->easy, CURLOPT_CUSTOMREQUEST, x->method);
	if (strcmp(x->method, "GET") == 0)
		return;
	curl_set(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_size);
	curl_set(x->easy, CURLOPT_POSTFIELDS, x->body);
}

bool leader_request_begin(struct forwarder *f, struct exchange *x)
{
	x->easy = CAN_BREAK(FORWARD_HANDLE, NULL, curl_easy_init());
	if (!x->easy)
		return false;
	set_connection(f, x->easy);
	set_request(x, f->status.leader.http);
	set_lines(x);
	curl_set(x->easy, CURLOPT_PRIVATE, x);
	curl_set(x->easy, CURLOPT_CONNECT_ONLY, (long)x->is_upgrade);
	curl_set(x->easy, CURLOPT_HEADERFUNCTION, on_head);
	curl_set(x->easy, CURLOPT_HEADERDATA, x);
	curl_set(x->easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_set(x->easy, CURLOPT_WRITEDATA, x);
	return true;
}

void leader_request_end(struct forwarder *f, struct exchange *x)
{
	curl_multi_remove_handle(curl_events_multi(f->events), x->easy);
	curl_easy_cleanup(x->easy);
	curl_slist_free_all(x->lines);
	x->easy = x->lines = NULL;
}
