#include "state/etcd/etcd_line.h"
#include "state/base/check.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define IDLE_LINES_MAX 8u
#define URL_BYTES_MAX 512u
#define HEADER_BYTES_MAX 1024u
// A request and an answer of so much stay with a line that nobody uses.
#define KEPT_BYTES (128u * 1024)
// Unanswered bytes and keepalives for so long: the other machine is gone.
#define SILENCE_MS 4000

struct etcd_line *etcd_line_take(struct etcd *e)
{
	pthread_mutex_lock(&e->lock);
	struct etcd_line *line = e->idle_lines;
	if (line)
		e->idle_lines = line->next;
	pthread_mutex_unlock(&e->lock);
	if (line)
		return line;
	line = memory_take(sizeof *line);
	line->multi = memory_or_end(CAN_BREAK(ETCD_HANDLES, NULL, curl_multi_init()));
	return line;
}

void etcd_line_give_back(struct etcd *e, struct etcd_line *line)
{
	uint32_t idle = 0;
	for (uint32_t i = 0; i < ETCD_TOGETHER_MAX; i++)
		if (line->exchanges[i].easy) {
			bytes_writer_shrink(&line->exchanges[i].request, KEPT_BYTES);
			bytes_writer_shrink(&line->exchanges[i].answer, KEPT_BYTES);
		}
	pthread_mutex_lock(&e->lock);
	for (struct etcd_line *l = e->idle_lines; l; l = l->next)
		idle++;
	bool is_kept = idle < IDLE_LINES_MAX;
	if (is_kept) {
		line->next = e->idle_lines;
		e->idle_lines = line;
	}
	pthread_mutex_unlock(&e->lock);
	if (!is_kept)
		etcd_line_free(line);
}

void etcd_line_free(struct etcd_line *line)
{
	for (uint32_t i = 0; i < ETCD_TOGETHER_MAX; i++) {
		struct etcd_exchange *x = &line->exchanges[i];
		if (!x->easy)
			continue;
		curl_multi_remove_handle(line->multi, x->easy);
		curl_easy_cleanup(x->easy);
		curl_slist_free_all(x->headers);
		bytes_writer_free(&x->request);
		bytes_writer_free(&x->answer);
	}
	curl_multi_cleanup(line->multi);
	free(line);
}

// libcurl sends a request once more when a kept connection ends before the answer. It can not when it may read the
// request only once, and so never carries out a transaction twice.
static size_t give_request(char *to, size_t each, size_t count, void *context)
{
	struct etcd_exchange *x = context;
	size_t size = each * count, left = x->request.size - x->given;
	if (left == 0)
		return CURL_READFUNC_ABORT;
	if (size > left)
		size = left;
	memcpy(to, x->request.data + x->given, size);
	x->given += size;
	return size;
}

static size_t take_answer(char *data, size_t each, size_t count, void *context)
{
	struct etcd_exchange *x = context;
	size_t size = each * count;
	if (size > ETCD_ANSWER_BYTES_MAX - x->answer.size)
		return 0;
	bytes_put(&x->answer, data, size);
	return size;
}

static int socket_prepare(void *context, curl_socket_t socket, curlsocktype purpose)
{
	int silence_ms = SILENCE_MS;
	if (FAILPOINT(ETCD_SOCKET))
		return CURL_SOCKOPT_ERROR;
	setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
	return CURL_SOCKOPT_OK;
}

static void exchange_secure(const struct etcd *e, CURL *easy)
{
	if (e->ca_file)
		curl_set(easy, CURLOPT_CAINFO, e->ca_file);
	if (e->certificate_file)
		curl_set(easy, CURLOPT_SSLCERT, e->certificate_file);
	if (e->key_file)
		curl_set(easy, CURLOPT_SSLKEY, e->key_file);
}

static void exchange_create(const struct etcd *e, struct etcd_exchange *x)
{
	CURL *easy = memory_or_end(CAN_BREAK(ETCD_HANDLE, NULL, curl_easy_init()));
	x->easy = easy;
	curl_set(easy, CURLOPT_NOSIGNAL, 1L);
	curl_set(easy, CURLOPT_PROXY, "");
	curl_set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_set(easy, CURLOPT_TCP_NODELAY, 1L);
	curl_set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_set(easy, CURLOPT_TCP_KEEPIDLE, 1L);
	curl_set(easy, CURLOPT_TCP_KEEPINTVL, 1L);
	curl_set(easy, CURLOPT_SOCKOPTFUNCTION, socket_prepare);
	curl_set(easy, CURLOPT_BUFFERSIZE, 64L * 1024);
	curl_set(easy, CURLOPT_UPLOAD_BUFFERSIZE, 64L * 1024);
	curl_set(easy, CURLOPT_ERRORBUFFER, x->text);
	curl_set(easy, CURLOPT_PRIVATE, x);
	curl_set(easy, CURLOPT_POST, 1L);
	curl_set(easy, CURLOPT_READFUNCTION, give_request);
	curl_set(easy, CURLOPT_READDATA, x);
	curl_set(easy, CURLOPT_WRITEFUNCTION, take_answer);
	curl_set(easy, CURLOPT_WRITEDATA, x);
	exchange_secure(e, easy);
	x->request = bytes_writer_growing(KEPT_BYTES);
	x->answer = bytes_writer_growing(KEPT_BYTES);
}

struct etcd_exchange *etcd_exchange_ready(struct etcd *e, struct etcd_line *line, uint32_t slot)
{
	CHECK(slot < ETCD_TOGETHER_MAX);
	struct etcd_exchange *x = &line->exchanges[slot];
	if (!x->easy)
		exchange_create(e, x);
	x->request.size = 0;
	x->request.failed = false;
	x->is_anonymous = false;
	return x;
}

// The token changes seldom.
static void exchange_address(struct etcd *e, struct etcd_exchange *x)
{
	char header[HEADER_BYTES_MAX];
	pthread_mutex_lock(&e->lock);
	uint64_t number = x->is_anonymous || !e->token ? ETCD_NO_TOKEN : e->token_number;
	if (number != ETCD_NO_TOKEN)
		snprintf(header, sizeof header, "Authorization: %s", e->token);
	pthread_mutex_unlock(&e->lock);
	if (x->headers && x->token_number == number)
		return;
	curl_slist_free_all(x->headers);
	x->token_number = number;
	x->headers = curl_line_add(NULL, "Content-Type: application/json");
	x->headers = curl_line_add(x->headers, "Expect:");
	if (number != ETCD_NO_TOKEN)
		x->headers = curl_line_add(x->headers, header);
	curl_set(x->easy, CURLOPT_HTTPHEADER, x->headers);
}

void etcd_exchange_begin(struct etcd *e, struct etcd_line *line, struct etcd_exchange *x,
	const char *path, uint32_t endpoint, struct etcd_limits limits)
{
	char url[URL_BYTES_MAX];
	CHECK(endpoint < e->endpoint_count && x->request.size > 0);
	snprintf(url, sizeof url, "%s%s", e->endpoints[endpoint].url, path);
	exchange_address(e, x);
	curl_set(x->easy, CURLOPT_URL, url);
	curl_set(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->request.size);
	curl_set(x->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)limits.connect_ms);
	curl_set(x->easy, CURLOPT_TIMEOUT_MS, (long)limits.whole_ms);
	x->answer.size = 0;
	x->given = 0;
	x->endpoint = endpoint;
	x->is_done = false;
	x->status = 0;
	x->text[0] = 0;
	x->begun_ns = etcd_now_ns();
	e->counters.requests++;
	curl_begin(line->multi, x->easy);
}

// Returns how many are done.
static uint32_t line_collect(struct etcd_line *line)
{
	int left;
	uint32_t done = 0;
	CURLMsg *message;
	while ((message = curl_multi_info_read(line->multi, &left))) {
		struct etcd_exchange *x = NULL;
		CURLcode code = CAN_BREAK(ETCD_ANSWER, CURLE_RECV_ERROR, message->data.result);
		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x);
		CHECK(x);
		x->code = code;
		curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->status);
		if (code != CURLE_OK && !x->text[0])
			snprintf(x->text, sizeof x->text, "%s", curl_easy_strerror(code));
		curl_multi_remove_handle(line->multi, x->easy);
		x->is_done = true;
		done++;
	}
	return done;
}

void etcd_line_work(struct etcd_line *line, uint32_t wait_ms)
{
	int running;
	curl_multi_had_memory(curl_multi_perform(line->multi, &running));
	if (line_collect(line))
		return;
	curl_multi_poll(line->multi, NULL, 0, (int)wait_ms, NULL);
	curl_multi_had_memory(curl_multi_perform(line->multi, &running));
	line_collect(line);
}

void etcd_exchange_cancel(struct etcd_line *line, struct etcd_exchange *x)
{
	curl_multi_remove_handle(line->multi, x->easy);
	x->is_done = true;
}
