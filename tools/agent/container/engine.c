#include "tools/agent/container/engine.h"
#include "state/base/bytes.h"
#include "state/base/curl/curl_memory.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include "tools/agent/task/spec.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct engine_stream {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	char *text; // of the request's body
	const char *socket;
	engine_sink *sink;
	void *context;
	struct bytes_writer body;
	char error[CURL_ERROR_SIZE];
	bool is_over;
	CURLcode code;
};

// An answer that is an error is kept whatever takes those that are good.
static size_t on_piece(char *bytes, size_t one, size_t size, void *context)
{
	struct engine_stream *s = context;
	long status = 0;
	(void)one;
	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (s->sink && status < 300)
		return s->sink(s->context, bytes, size) ? size : 0;
	if (s->body.size + size > ENGINE_REPLY_BYTES_MAX)
		return 0;
	bytes_put(&s->body, bytes, size);
	return size;
}

static void stream_header(struct engine_stream *s, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 3;
	char *line = memory_take(size);
	snprintf(line, size, "%s: %s", name, value);
	s->headers = curl_line_add(s->headers, line);
	free(line);
}

struct engine_stream *engine_stream_open(
	const struct engine *engine, CURLM *multi, const struct engine_request *request)
{
	char url[2200];
	struct engine_stream *s = memory_take(sizeof *s);
	*s = (struct engine_stream){.multi = multi,
		.curl = CAN_BREAK(ENGINE_HANDLE, NULL, curl_easy_init()),
		.socket = engine->socket,
		.sink = request->sink,
		.context = request->context,
		.body = bytes_writer_growing(1024)};
	if (!s->curl) {
		engine_stream_close(s);
		return NULL;
	}
	snprintf(url, sizeof url, "http://engine%s", request->path);
	curl_set(s->curl, CURLOPT_URL, url);
	curl_set(s->curl, CURLOPT_UNIX_SOCKET_PATH, engine->socket);
	curl_set(s->curl, CURLOPT_NOSIGNAL, 1L);
	curl_set(s->curl, CURLOPT_PROXY, "");
	curl_set(s->curl, CURLOPT_PROTOCOLS_STR, "http");
	curl_set(s->curl, CURLOPT_PRIVATE, s);
	curl_set(s->curl, CURLOPT_ERRORBUFFER, s->error);
	curl_set(s->curl, CURLOPT_WRITEFUNCTION, on_piece);
	curl_set(s->curl, CURLOPT_WRITEDATA, s);
	curl_set(s->curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	s->text = request->body ? spec_dump(request->body) : NULL;
	if (strcmp(request->method, "POST") == 0)
		curl_set(s->curl, CURLOPT_POSTFIELDS, s->text ? s->text : "");
	curl_set(s->curl, CURLOPT_CUSTOMREQUEST, request->method);
	stream_header(s, "Content-Type", "application/json");
	if (request->auth && *request->auth)
		stream_header(s, "X-Registry-Auth", request->auth);
	curl_set(s->curl, CURLOPT_HTTPHEADER, s->headers);
	if (curl_multi_add_handle(multi, s->curl) == CURLM_OK)
		return s;
	engine_stream_close(s);
	return NULL;
}

void engine_stream_close(struct engine_stream *s)
{
	if (!s)
		return;
	if (s->curl)
		curl_multi_remove_handle(s->multi, s->curl);
	curl_easy_cleanup(s->curl);
	curl_slist_free_all(s->headers);
	free(s->text);
	bytes_writer_free(&s->body);
	free(s);
}

bool engine_stream_is_over(const struct engine_stream *s)
{
	return s->is_over;
}

// Docker says "message"; podman says "cause", too.
void engine_reply_fill(struct engine_reply *reply, const char *body, size_t size)
{
	reply->body = size > 0 ? json_loadb(body, size, 0, NULL) : NULL;
	const char *said = json_string_value(json_object_get(reply->body, "message"));
	if (engine_is_good(reply))
		return;
	if (said)
		snprintf(reply->message, sizeof reply->message, "%s", said);
	else
		snprintf(reply->message, sizeof reply->message, "HTTP status %ld %.*s",
			reply->status, (int)(size < 200 ? size : 200), body);
}

void engine_stream_reply(struct engine_stream *s, struct engine_reply *reply)
{
	*reply = (struct engine_reply){0};
	bool is_cut = s->code == CURLE_WRITE_ERROR; // by the sink
	if (s->code == CURLE_OK || is_cut)
		curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &reply->status);
	engine_reply_fill(reply, (const char *)s->body.data, s->body.size);
	if (reply->status == 0)
		snprintf(reply->message, sizeof reply->message, "%.100s does not answer: %.130s",
			s->socket, *s->error ? s->error : curl_easy_strerror(s->code));
}

static bool take_ended_streams(CURLM *multi)
{
	int left;
	bool has_ended = false;
	for (const CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
		char *stream = NULL;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &stream);
		if (m->msg != CURLMSG_DONE || !stream)
			continue;
		((struct engine_stream *)stream)->is_over = true;
		((struct engine_stream *)stream)->code = m->data.result;
		has_ended = true;
	}
	return has_ended;
}

// What ends before the wait is not waited for.
void engine_streams_step(CURLM *multi, const struct engine *engine, int timeout_ms)
{
	struct curl_waitfd signals = {.fd = engine->signal_fd, .events = CURL_WAIT_POLLIN};
	int left;
	curl_multi_perform(multi, &left);
	if (take_ended_streams(multi))
		return;
	curl_multi_poll(multi, &signals, engine->signal_fd >= 0 ? 1 : 0, timeout_ms, NULL);
	curl_multi_perform(multi, &left);
	take_ended_streams(multi);
}

static bool signal_waits(const struct engine *engine)
{
	struct pollfd polled = {.fd = engine->signal_fd, .events = POLLIN};
	return engine->signal_fd >= 0 && poll(&polled, 1, 0) > 0;
}

void engine_ask(const struct engine *engine, const struct engine_request *request,
	struct engine_reply *reply)
{
	CURLM *multi = memory_or_end(CAN_BREAK(ENGINE_HANDLES, NULL, curl_multi_init()));
	struct engine_stream *s = engine_stream_open(engine, multi, request);
	*reply = (struct engine_reply){.message = "memory is short"};
	while (s && !s->is_over && !reply->is_told) {
		engine_streams_step(multi, engine, 1000);
		reply->is_told = !s->is_over && signal_waits(engine);
	}
	if (s && s->is_over)
		engine_stream_reply(s, reply);
	engine_stream_close(s);
	curl_multi_cleanup(multi);
}

void engine_reply_free(struct engine_reply *reply)
{
	json_decref(reply->body);
	reply->body = NULL;
}
