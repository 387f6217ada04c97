// The path of a request: headers → route → body → parked or commands → answer. Only this file and start.c drive
// libmicrohttpd.
#include "tools/api/server/http.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/audit/audit_ring.h"
#include "tools/api/audit/client.h"
#include "tools/api/server/access.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/clients/cross_origin.h"
#include "tools/api/server/clients/hosts.h"
#include "tools/api/server/clients/more_headers.h"
#include "tools/api/server/elsewhere/forwarding.h"
#include "tools/api/server/elsewhere/switched.h"
#include "tools/api/server/gzip.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/request_counters.h"
#include "tools/api/server/submission.h"
#include "tools/api/server/web_socket.h"
#include "tools/tls/identity.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// A write that is not durable within this time is answered with 503; it may still take effect.
#define COMMAND_WAIT_MS 30000ull
// Bytes of a body that the server reads and drops before it refuses, so that the client gets to see the answer.
#define BODY_DISCARD_BYTES_MAX (16u * JOB_JSON_BYTES_MAX)

static const struct refusal too_large = {
	MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than 1 MiB, the most that is read"};

static void put_header(struct MHD_Response *response, const char *name, const char *value)
{
	// Fails only without memory; a client copes without the header.
	(void)MHD_add_response_header(response, name, value);
}

static void put_number(struct MHD_Response *response, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	put_header(response, name, text);
}

static void put_handed_on(struct MHD_Response *response, const struct answer_head *head)
{
	for (uint32_t i = 0; i < head->count; i++)
		put_header(response, head->headers[i].name, head->headers[i].value);
}

// How far an answer may lag behind the leader.
static void put_lag(struct MHD_Response *response, const struct request *request)
{
	struct cluster_status status;
	bool is_known = true;
	uint64_t contact_ms = 0;
	if (request->is_stale && request_cluster(request, &status)) {
		is_known = status.knows_leader;
		contact_ms = forwarding_contact_ms(request->api, &status);
	}
	put_header(response, "X-Nomad-KnownLeader", is_known ? "true" : "false");
	put_number(response, "X-Nomad-LastContact", contact_ms);
}

static void put_headers(
	struct MHD_Response *response, const struct request *request, const struct reply *reply)
{
	cross_origin_put(request, response);
	if (reply->handed_on) {
		put_handed_on(response, reply->handed_on);
		return;
	}
	if (request->is_refused_by_follower)
		put_header(response, NOT_LEADER_HEADER, "true");
	if (reply->content_type)
		put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	if (!reply->source || reply->source->compress)
		put_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	if (reply->is_packed)
		put_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	if (reply->retry_after_s)
		put_number(response, MHD_HTTP_HEADER_RETRY_AFTER, reply->retry_after_s);
	if (reply->next_token)
		put_header(response, "X-Nomad-NextToken", reply->next_token);
	if (reply->digest)
		put_header(response, "Digest", reply->digest);
	if (*reply->etag)
		put_header(response, MHD_HTTP_HEADER_ETAG, reply->etag);
	for (uint32_t i = 0; i < reply->header_count; i++)
		put_header(response, reply->headers[i].name, reply->headers[i].value);
	if (!reply->has_index)
		return;
	put_number(response, "X-Nomad-Index", reply->index);
	if (request->route && request->route->submit && !reply->is_read)
		return;
	put_lag(response, request);
}

static struct MHD_Response *response_of(struct request *request, struct reply *reply)
{
	struct reply_source *source = reply->source;
	if (reply->status == MHD_HTTP_SWITCHING_PROTOCOLS)
		return request->close_code ? web_socket_response(request)
					   : switched_response(request);
	if (source)
		return MHD_create_response_from_callback(
			source->has_size ? source->bytes : MHD_SIZE_UNKNOWN, source->block_bytes,
			source->read, source, source->free);
	size_t size = reply->body.size;
	char *data = json_writer_take(&reply->body);
	if (reply->is_packed) {
		char *packed = (char *)gzip_all(data, size, &size);
		reply->is_packed = packed != NULL;
		if (packed) {
			free(data);
			data = packed;
		}
	}
	struct MHD_Response *response =
		MHD_create_response_from_buffer_with_free_callback(size, data, free);
	if (!response)
		free(data);
	return response;
}

static void choose_encoding(struct request *request, struct reply *reply)
{
	const char *accepted = MHD_lookup_connection_value(
		request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	struct reply_source *source = reply->source;
	if (!gzip_is_accepted(accepted))
		return;
	if (source)
		reply->is_packed = source->compress &&
				   request_hold(request, GZIP_STREAM_BYTES, false) &&
				   source->compress(source);
	else
		reply->is_packed = reply->body.size >= GZIP_BYTES_MIN;
}

static enum MHD_Result send_reply(struct request *request, struct reply *reply)
{
	if (!request_hold_answer(request, reply))
		reply_no_memory(reply);
	if (reply->status >= MHD_HTTP_BAD_REQUEST && request->route && !reply->handed_on &&
		request->api->routes->is_of_orchard(request->route))
		reply_error_as_json(reply);
	request->stage = REQUEST_ANSWERED;
	request->status = reply->status;
	connection_enter(request->api->connections, request->socket, CONNECTION_SENDING);
	bool is_web_socket = reply->status == MHD_HTTP_SWITCHING_PROTOCOLS;
	if (!is_web_socket)
		choose_encoding(request, reply);
	struct MHD_Response *response = response_of(request, reply);
	if (!response) {
		reply_free(reply);
		return MHD_NO;
	}
	if (!is_web_socket)
		put_headers(response, request, reply);
	more_headers_put(request, response);
	free(reply->next_token);
	free(reply->digest);
	enum MHD_Result result =
		is_web_socket && !request->close_code
			? switched_begin(request, response)
			: MHD_queue_response(request->connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_error(struct request *request, unsigned status, const char *text)
{
	struct reply reply = {0};
	if (*text)
		reply_error(&reply, status, "%s", text);
	reply.status = status;
	reply.retry_after_s = status == MHD_HTTP_TOO_MANY_REQUESTS ? RETRY_AFTER_S : 0;
	return send_reply(request, &reply);
}

static enum MHD_Result send_refusal(struct request *request)
{
	struct reply reply = {0};
	if (web_socket_shows_reason(request)) {
		web_socket_refuse(request, &reply, WEB_SOCKET_FAULT, "%s",
			web_socket_refusal_text(&request->refusal));
		return send_reply(request, &reply);
	}
	return send_error(request, request->refusal.status, request->refusal.text);
}

// Whether somebody else fills the reply, until when the request is parked.
static bool is_answered_elsewhere(struct request *request)
{
	if (request->stage == REQUEST_WORKING)
		background_answer_park(request);
	else if (request->stage == REQUEST_FORWARDED)
		forwarding_park(request);
	else if (request->stage == REQUEST_AWAITING)
		parking_park(request->api->parking, request, request->awaited, request,
			request->awaited_until_ns);
	else
		return false;
	return true;
}

static enum MHD_Result answer_request(struct request *request)
{
	struct reply reply = {0};
	request->route->answer(request, &reply);
	return is_answered_elsewhere(request) ? MHD_YES : send_reply(request, &reply);
}

static enum MHD_Result work_ended(struct request *request)
{
	struct reply reply = background_answer_take(request);
	return send_reply(request, &reply);
}

static enum MHD_Result begin_read(struct request *request)
{
	struct reply reply = {0};
	uint64_t deadline_ns = 0;
	bool waits = blocking_query_wanted(request, &deadline_ns, &reply);
	if (reply.status)
		return send_reply(request, &reply);
	if (!waits || blocking_query_is_over(request))
		return answer_request(request);
	request->stage = REQUEST_WATCHING;
	parking_park(request->api->parking, request, &blocking_query_kind, request, deadline_ns);
	return MHD_YES;
}

static enum MHD_Result begin_write(struct request *request)
{
	struct reply reply = {0};
	request->route->submit(request, &reply);
	if (is_answered_elsewhere(request))
		return MHD_YES;
	if (reply.status)
		return send_reply(request, &reply);
	if (!submission_push(request->submission)) {
		reply_outcome(&reply, OUTCOME_NOT_QUEUED);
		return send_reply(request, &reply);
	}
	request->stage = REQUEST_COMMANDS;
	submission_await(request,
		time_monotonic_ns(request->api->settings.time) + COMMAND_WAIT_MS * NS_PER_MS);
	return MHD_YES;
}

static enum MHD_Result begin_forwarded(struct request *request)
{
	struct reply reply = {0};
	request->stage = REQUEST_FORWARDED;
	if (!forwarding_begin(request, &reply))
		return send_reply(request, &reply);
	return MHD_YES;
}

static enum MHD_Result advance_request(struct request *);

static enum MHD_Result forwarded_ended(struct request *request)
{
	struct reply reply = {0};
	if (forwarding_answer(request, &reply))
		return send_reply(request, &reply);
	if (request->exchange)
		return MHD_NO;
	// This member leads now.
	request->refusal = access_check(request);
	request->stage = REQUEST_BODY;
	return advance_request(request);
}

static enum MHD_Result commands_ended(struct request *request)
{
	parking_leave(request->api->parking, request);
	if (!submission_is_done(request->submission))
		return send_error(request, MHD_HTTP_SERVICE_UNAVAILABLE,
			"the change was not confirmed in time; it may still take effect: look "
			"before you repeat it");
	return answer_request(request);
}

// Meanwhile the token may have been deleted, or allow less.
static enum MHD_Result watch_ended(struct request *request)
{
	request->stage = REQUEST_WATCHING; // it may begin to await something
	request->refusal = forwarding_check(request);
	if (!request->refusal.status)
		request->refusal = access_check(request);
	return request->refusal.status ? send_refusal(request) : answer_request(request);
}

static enum MHD_Result advance_request(struct request *request)
{
	switch (request->stage) {
	case REQUEST_HEADERS:
	case REQUEST_BODY:
		if (request->refusal.status)
			return send_refusal(request);
		// A request that comes while the server stops is not parked, because nobody would wait for it.
		if (!parking_is_open(request->api->parking))
			return send_error(
				request, MHD_HTTP_SERVICE_UNAVAILABLE, "the server stops");
		if (request->is_forwarded)
			return begin_forwarded(request);
		return request->route->submit ? begin_write(request) : begin_read(request);
	case REQUEST_WATCHING:
	case REQUEST_AWAITING: return watch_ended(request);
	case REQUEST_COMMANDS: return commands_ended(request);
	case REQUEST_WORKING: return work_ended(request);
	case REQUEST_FORWARDED: return forwarded_ended(request);
	case REQUEST_ANSWERED: break;
	}
	return MHD_NO;
}

static const char *header_of(struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

// Bytes of the body that the client announces; 0: none, or in chunks.
static uint64_t announced_bytes(struct request *request)
{
	const char *length = header_of(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
	return length ? strtoull(length, NULL, 10) : 0;
}

// True: the client sends a body without waiting for leave. Were it answered before it has sent all of that, the
// connection would be closed with data unread, that is reset, and the answer might be lost.
static bool body_is_under_way(struct request *request)
{
	if (header_of(request, MHD_HTTP_HEADER_EXPECT))
		return false;
	uint64_t announced = announced_bytes(request);
	return (announced && announced <= BODY_DISCARD_BYTES_MAX) ||
	       header_of(request, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

// NULL: the request comes from where it may; else why it is refused.
static const char *origin_complaint(struct request *request, const char *method)
{
	const char *host = header_of(request, MHD_HTTP_HEADER_HOST);
	const char *origin = header_of(request, MHD_HTTP_HEADER_ORIGIN);

	// Every browser sends a Host; a client that sends none is none.
	if (host && !host_is_known(text_of(host), text_of(request->api->hosts)))
		return "this server has no such name (header Host): use its address, or add the "
		       "name to http.hosts";
	if (origin && (!host || !origin_is_host(text_of(origin), text_of(host))) &&
		!cross_origin_may(request, method, origin))
		return "a web page of another site may not ask anything here (header Origin): it "
		       "may read when its site is in http.origins";
	return NULL;
}

static bool encoding_is_known(struct request *request)
{
	const char *encoding = header_of(request, MHD_HTTP_HEADER_CONTENT_ENCODING);
	return !encoding || strcasecmp(encoding, "identity") == 0;
}

// This controller forwards no requests to controllers of other regions.
static bool is_for_this_region(const struct request *request)
{
	const char *region = request_parameter(request, "region");
	return !region || !*region || strcmp(region, request->api->region) == 0;
}

// What the request line and the headers have wrong; also finds the route and reads the parameters.
static struct refusal headers_refusal(struct request *request, const char *method, const char *url)
{
	request->path = text_copy(text_of(url));
	const char *problem = origin_complaint(request, method);
	if (problem)
		return (struct refusal){MHD_HTTP_FORBIDDEN, problem};
	switch (route_find(
		request->api->routes, method, request->path, &request->route, request->ids)) {
	case ROUTE_FOUND: break;
	case ROUTE_UNKNOWN_PATH: return (struct refusal){MHD_HTTP_NOT_FOUND, ""};
	case ROUTE_WRONG_METHOD:
		if (cross_origin_is_asked(request, method, url))
			return (struct refusal){MHD_HTTP_NO_CONTENT, ""};
		return (struct refusal){MHD_HTTP_METHOD_NOT_ALLOWED, "Invalid method"};
	case ROUTE_BAD_ENCODING:
		return (struct refusal){MHD_HTTP_BAD_REQUEST,
			"the path has a broken percent-escape; write a literal % as %25"};
	}
	problem = request_parameters_read(request);
	if (problem)
		return (struct refusal){MHD_HTTP_BAD_REQUEST, problem};
	struct refusal refusal = forwarding_judge(request, url);
	if (request->route->ask)
		forwarding_note_target(request, url);
	// What the leader answers it also allows.
	if (!refusal.status && !request->is_forwarded)
		refusal = access_check(request);
	if (refusal.status)
		return refusal;
	if (!is_for_this_region(request))
		return (struct refusal){MHD_HTTP_INTERNAL_SERVER_ERROR, "No path to region"};
	if (!encoding_is_known(request))
		return (struct refusal){MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
			"the body's Content-Encoding is not supported; send it without one"};
	if (request->api->routes->takes_file(request->route))
		return request_file_open(request, announced_bytes(request));
	return announced_bytes(request) > JOB_JSON_BYTES_MAX ? too_large : (struct refusal){0};
}

static char *asked_text(const char *method, const char *url)
{
	size_t size = strlen(method) + strlen(url) + 2;
	char *asked = memory_take(size);
	snprintf(asked, size, "%s %s", method, url);
	return asked;
}

static enum MHD_Result begin_request(struct request *request, const char *method, const char *url)
{
	if (request->api->audit)
		request->asked = asked_text(method, url);
	request->refusal = headers_refusal(request, method, url);
	bool refused = request->refusal.status != 0;
	if (refused && !body_is_under_way(request))
		return send_refusal(request);
	if (refused || request->route->submit) {
		request->stage = REQUEST_BODY;
		connection_enter(request->api->connections, request->socket, CONNECTION_BODY);
	}
	return MHD_YES;
}

static struct refusal refuse_too_large(struct request *request)
{
	request_body_drop(request);
	return too_large;
}

static enum MHD_Result take_body(struct request *request, const char *data, size_t *size)
{
	size_t taken = *size;
	*size = 0;
	request->body_seen += taken;
	// Its client may manage all, and may take its time.
	if (request->has_body_file)
		connection_enter(request->api->connections, request->socket, CONNECTION_BODY);
	else if (request->body_seen > BODY_DISCARD_BYTES_MAX)
		return MHD_NO;
	if (request->refusal.status || !request->route->submit)
		return MHD_YES;
	if (request->has_body_file)
		request->refusal = request_file_add(request, data, taken);
	else if (request->body_seen > JOB_JSON_BYTES_MAX)
		request->refusal = refuse_too_large(request);
	else
		request->refusal = request_body_add(request, data, taken);
	return MHD_YES;
}

static struct connection *socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

enum MHD_Result http_access(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload_data, size_t *upload_data_size,
	void **request_at)
{
	struct request *request = *request_at;
	if (!request) {
		struct connection *socket = socket_of(connection);
		if (!socket)
			return MHD_NO;
		connection_speaks(socket);
		*request_at = request = request_create(context, connection, socket);
		return begin_request(request, method, url);
	}
	if (*upload_data_size)
		return take_body(request, upload_data, upload_data_size);
	return advance_request(request);
}

static void audit(struct api *api, const struct audit_line *line)
{
	audit_log_write(api->audit, line);
	if (audit_ring_add(api->audit_ring, line, state_index(api->settings.state)))
		parking_wake_soon(api->parking);
}

static void audit_request(const struct request *request)
{
	struct api *api = request->api;
	char from[CLIENT_BYTES], who[CLIENT_BYTES];
	if (!request->asked)
		return;
	client_address(request->connection, connection_fd(request->socket), from);
	if (uuid_is_zero(&request->accessor))
		client_name(request->connection, who);
	else
		uuid_format(&request->accessor, who);
	const struct audit_line line = {.time_ns = (int64_t)time_wall_ns(api->settings.time),
		.who = who,
		.from = from,
		.asked = request->asked,
		.route = request->route ? request->route->pattern : "-",
		.status = request->status};
	audit(api, &line);
}

// Of a client that came over TLS and left without a request: mostly it showed no certificate that is known, or did not
// know the server's.
static void audit_silence(
	struct api *api, struct MHD_Connection *connection, const struct connection *socket)
{
	char from[CLIENT_BYTES];
	if (!api->audit || !connection_was_silent(socket))
		return;
	client_address(connection, connection_fd(socket), from);
	const struct audit_line line = {.time_ns = (int64_t)time_wall_ns(api->settings.time),
		.who = "anonymous",
		.from = from,
		.asked = "TLS",
		.route = "-"};
	audit(api, &line);
}

void http_completed(void *context, struct MHD_Connection *connection, void **request_at,
	enum MHD_RequestTerminationCode how)
{
	struct request *request = *request_at;
	*request_at = NULL;
	if (!request)
		return;
	// One that waits for its command is resumed while it is on the list: libmicrohttpd ends it at once when its
	// client left.
	parking_leave(request->api->parking, request);
	connection_enter(request->api->connections, request->socket, CONNECTION_IDLE);
	request_counters_add(request->api->counters, request->route, request->status);
	audit_request(request);
	if (request->submission)
		submission_release(request->submission);
	background_answer_drop(request);
	forwarding_drop(request);
	struct api *api = request->api;
	bool begins_anew = request->begins_anew && !atomic_load(&api->is_stopping);
	request_free(request);
	if (begins_anew)
		api->settings.begin_anew(api->settings.context);
}

void *http_request_line(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct api *api = context;
	struct connection *socket = socket_of(connection);
	if (socket)
		connection_enter(api->connections, socket, CONNECTION_HEADERS);
	return NULL;
}

// What the connection begins with it keeps, whatever is renewed meanwhile.
static void secure_connection(
	struct api *api, struct MHD_Connection *connection, struct connection *socket)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info)
		return;
	struct credentials *credentials = identity_share(api->identity);
	credentials_use(credentials, info->tls_session);
	connection_keep(socket, credentials);
}

static bool comes_from_address(struct MHD_Connection *connection, struct guest_key *from)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	return info && info->client_addr && guest_key_of_address(info->client_addr, from);
}

void http_connection(void *context, struct MHD_Connection *connection, void **socket_at,
	enum MHD_ConnectionNotificationCode what)
{
	struct api *api = context;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (!info)
			return;
		struct guest_key from;
		*socket_at = connection_open(api->connections, info->connect_fd,
			comes_from_address(connection, &from) ? &from : NULL);
		secure_connection(api, connection, *socket_at);
	} else if (*socket_at) {
		audit_silence(api, connection, *socket_at);
		connection_close(api->connections, *socket_at);
		*socket_at = NULL;
	}
}

// The API decodes paths and parameters itself, once and strictly.
size_t http_leave_encoded(void *context, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}
