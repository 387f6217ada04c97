#include "tools/api/server/elsewhere/forwarding.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/server/access.h"
#include "tools/api/server/clients/connections.h"
#include "tools/api/server/elsewhere/switched.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/web_socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORWARDED_HEADER "X-Berth-Forwarded"
#define BLOCK_BYTES (64u * 1024)

static const char *header_value(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

bool request_cluster(const struct request *request, struct cluster_status *status)
{
	const struct api_settings *settings = &request->api->settings;
	if (settings->cluster)
		settings->cluster(settings->context, status);
	return settings->cluster != NULL;
}

static struct cluster_member self_of(const struct api *api)
{
	struct cluster_member self = {.is_alive = true, .is_leader = true, .is_self = true};
	uuid_format(&api->id, self.id);
	snprintf(self.name, sizeof self.name, "%s", api->name);
	return self;
}

static bool is_named(const struct api *api, const struct cluster_member *member, const char *name)
{
	size_t size = strlen(member->name);
	if (strcmp(name, member->id) == 0)
		return true;
	if (strncmp(name, member->name, size) != 0)
		return false;
	const char *behind = name + size;
	return !*behind || (*behind == '.' && strcmp(behind + 1, api->region) == 0);
}

bool server_find(const struct request *request, const char *name, struct cluster_member *found)
{
	struct cluster_status status;
	bool is_leader = strcmp(name, "leader") == 0;
	if (!request_cluster(request, &status)) {
		status = (struct cluster_status){.knows_leader = true, .member_count = 1};
		status.leader = status.members[0] = self_of(request->api);
	}
	*found = status.leader;
	found->is_leader = true;
	if (is_leader && !status.knows_leader)
		return false;
	// What the leader says of itself does not say that it is this server; the list of members does.
	const char *wanted = is_leader ? status.leader.id : name;
	for (uint32_t i = 0; i < status.member_count; i++) {
		if (!is_named(request->api, &status.members[i], wanted))
			continue;
		*found = status.members[i];
		found->is_leader = found->is_leader || is_leader;
		return true;
	}
	return is_leader;
}

static bool is_read(const struct request *request)
{
	return !request->route->submit;
}

static struct refusal refuse_leaderless(struct request *request, enum forward_outcome why)
{
	request->is_refused_by_follower = true;
	forwarder_note(request->api->forwarder, why);
	return (struct refusal){MHD_HTTP_INTERNAL_SERVER_ERROR, FORWARD_NO_LEADER_TEXT};
}

// A body of any size is sent to where it is used.
static struct refusal refuse_large(struct request *request, const struct cluster_status *status)
{
	request->is_refused_by_follower = true;
	snprintf(request->complaint, sizeof request->complaint,
		"this server follows and hands on no such body: send it to the leader%s%s",
		status->knows_leader ? ", " : "", status->knows_leader ? status->leader.http : "");
	return (struct refusal){MHD_HTTP_CONFLICT, request->complaint};
}

static bool is_answered_by_any(const struct request *request)
{
	return request->api->routes->is_of_itself(request->route) ||
	       (is_read(request) && request_flag(request, "stale") && !request->route->ask);
}

// What is about a server may be asked of the leader by name, and what is about a node only the leader knows.
static bool names_leader(const struct request *request)
{
	struct cluster_member member;
	const char *server = request_parameter(request, "server_id");
	const char *node = request_parameter(request, "node_id");
	if (node && *node)
		return true;
	return server && is_read(request) && server_find(request, server, &member) &&
	       member.is_leader;
}

struct query {
	char *text;
	size_t size, used;
};

// libmicrohttpd shows a blank for a plus; everything else is as it was sent.
static void add_to_query(struct query *q, const char *text)
{
	for (; *text; text++) {
		CHECK(q->used + 4 <= q->size);
		if (*text == ' ') {
			memcpy(q->text + q->used, "%20", 3);
			q->used += 3;
		} else {
			q->text[q->used++] = *text;
		}
	}
	q->text[q->used] = '\0';
}

static enum MHD_Result measure_parameter(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct query *q = context;
	q->size += 3 * (strlen(name) + (value ? strlen(value) : 0)) + 2;
	return MHD_YES;
}

static enum MHD_Result put_parameter(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct query *q = context;
	add_to_query(q, strchr(q->text, '?') ? "&" : "?");
	add_to_query(q, name);
	if (value) {
		add_to_query(q, "=");
		add_to_query(q, value);
	}
	return MHD_YES;
}

void forwarding_note_target(struct request *request, const char *url)
{
	struct query q = {.size = 3 * strlen(url) + 4};
	free(request->target);
	MHD_get_connection_values(
		request->connection, MHD_GET_ARGUMENT_KIND, measure_parameter, &q);
	q.text = memory_take(q.size);
	add_to_query(&q, url);
	MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, put_parameter, &q);
	request->target = q.text;
}

struct refusal forwarding_judge(struct request *request, const char *url)
{
	struct cluster_status status;
	if (!request_cluster(request, &status) || cluster_leads(&status))
		return (struct refusal){0};
	if (is_answered_by_any(request) && !names_leader(request)) {
		request->is_stale = true;
		return (struct refusal){0};
	}
	if (status.role == CLUSTER_LEADER)
		return refuse_leaderless(request, FORWARD_NO_LEADER);
	if (header_value(request, FORWARDED_HEADER))
		return refuse_leaderless(request, FORWARD_LOOPED);
	if (request->api->routes->takes_file(request->route))
		return refuse_large(request, &status);
	request->is_forwarded = true;
	forwarding_note_target(request, url);
	return (struct refusal){0};
}

struct refusal forwarding_check(struct request *request)
{
	struct cluster_status status;
	if (request->is_stale || !request_cluster(request, &status) || cluster_leads(&status))
		return (struct refusal){0};
	return refuse_leaderless(request, FORWARD_NO_LEADER);
}

// What a request of a client says that the leader needs to hear.
static struct exchange *exchange_of(const struct request *request)
{
	static const char *const names[] = {"X-Nomad-Token", MHD_HTTP_HEADER_AUTHORIZATION,
		MHD_HTTP_HEADER_CONTENT_TYPE, MHD_HTTP_HEADER_ACCEPT_ENCODING};
	// "PUT" also stands for "POST", which is the same everywhere.
	struct exchange *x = exchange_create(
		request->route->method, request->target, request->body, request->body_size);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		exchange_add_header(x, names[i], header_value(request, names[i]));
	exchange_add_header(x, FORWARDED_HEADER, request->api->name);
	if (switched_is_asked(request))
		switched_ask(request, x);
	return x;
}

static bool head_is_there(const void *context)
{
	struct exchange *x = (struct exchange *)context;
	return exchange_stage_of(x) != EXCHANGE_WAITS;
}

// As clients of the route get to see it.
static bool refuse_forwarded(
	struct request *request, struct reply *reply, unsigned status, const char *why)
{
	if (web_socket_shows_reason(request))
		web_socket_refuse(request, reply, WEB_SOCKET_FAULT, "%s", why);
	else
		reply_error(reply, status, "%s", why);
	return true;
}

bool forwarding_begin(struct request *request, struct reply *reply)
{
	struct forwarder *forwarder = request->api->forwarder;
	struct exchange *x = exchange_of(request);
	if (!forwarder_begin(forwarder, x)) {
		exchange_free(x);
		forwarder_note(forwarder, FORWARD_TOO_MANY);
		refuse_forwarded(request, reply, MHD_HTTP_TOO_MANY_REQUESTS,
			"too many requests wait for the leader; try again in a second, or ask the "
			"leader itself");
		reply->retry_after_s = 1;
		return false;
	}
	request->exchange = x;
	forwarding_park(request);
	return true;
}

void forwarding_park(struct request *request)
{
	static const struct parked_kind kind = {.is_ready = head_is_there};
	parking_park(request->api->parking, request, &kind, request->exchange, UINT64_MAX);
}

void forwarding_drop(struct request *request)
{
	if (request->exchange)
		request->exchange->carrier->drop(request->exchange);
	request->exchange = NULL;
}

// The bytes of an answer that is handed on. It may outlive the request.
struct forwarded_answer {
	struct reply_source source;
	struct request *request;   // while it is read
	struct exchange *exchange; // owned
	uint64_t sent_bytes;
};

static bool has_news(const void *context)
{
	return exchange_has_news((struct exchange *)context);
}

static ssize_t read_forwarded(void *source, uint64_t position, char *to, size_t most)
{
	static const struct parked_kind kind = {.is_ready = has_news};
	struct forwarded_answer *a = source;
	struct request *request = a->request;
	struct api *api = request->api;
	// The leader looks at who asks it.
	if (!request->is_forwarded && !access_still_holds(request))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	struct exchange_news news = exchange_read(a->exchange, to, most);
	if (news.was_held)
		a->exchange->carrier->has_room(a->exchange);
	if (news.size) {
		connection_enter(api->connections, request->socket, CONNECTION_SENDING);
		a->sent_bytes += news.size;
		return (ssize_t)news.size;
	}
	if (news.stage == EXCHANGE_IS_OVER)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (news.stage != EXCHANGE_ANSWERS || request->hung_up || !parking_is_open(api->parking))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	parking_park(api->parking, request, &kind, a->exchange, access_look_ns(request));
	return 0;
}

static void free_forwarded(void *source)
{
	struct forwarded_answer *a = source;
	enum exchange_stage stage = exchange_stage_of(a->exchange);
	enum forward_outcome outcome = FORWARD_LEFT;
	if (stage == EXCHANGE_IS_OVER || a->sent_bytes == a->exchange->head.body_bytes)
		outcome = FORWARD_ANSWERED;
	else if (stage == EXCHANGE_IS_BROKEN)
		outcome = FORWARD_BROKEN;
	a->exchange->carrier->note(a->exchange, outcome);
	a->exchange->carrier->drop(a->exchange);
	free(a);
}

static bool has_no_body(unsigned status)
{
	return status == MHD_HTTP_NO_CONTENT || status == MHD_HTTP_NOT_MODIFIED;
}

static bool hand_on(struct request *request, struct reply *reply)
{
	struct exchange *x = request->exchange;
	struct forwarded_answer *a = memory_take(sizeof *a);
	*a = (struct forwarded_answer){
		.source = {BLOCK_BYTES, read_forwarded, free_forwarded, NULL},
		.request = request,
		.exchange = x};
	a->source.bytes = has_no_body(x->head.status) ? 0 : x->head.body_bytes;
	a->source.has_size = a->source.bytes != ANSWER_SIZE_UNKNOWN;
	request->exchange = NULL;
	reply->source = &a->source;
	reply->handed_on = &x->head;
	reply->status = x->head.status;
	return true;
}

static bool refuse_failed(struct request *request, struct reply *reply)
{
	const struct exchange *x = request->exchange;
	if (x->failure_status) {
		request->is_refused_by_follower = request->is_forwarded;
		return refuse_forwarded(request, reply, x->failure_status, x->failure);
	}
	struct refusal refusal = refuse_leaderless(request, FORWARD_NO_LEADER);
	return refuse_forwarded(request, reply, refusal.status, refusal.text);
}

static bool refuse_lost(struct request *request, struct reply *reply)
{
	forwarder_note(request->api->forwarder, FORWARD_LOST);
	return refuse_forwarded(request, reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
		FORWARD_NO_LEADER_TEXT
		": it did not answer, and the change may still take effect: look before "
		"you repeat it");
}

bool forwarding_answer(struct request *request, struct reply *reply)
{
	switch (exchange_stage_of(request->exchange)) {
	case EXCHANGE_ANSWERS:
	case EXCHANGE_IS_OVER:
	case EXCHANGE_IS_BROKEN: return hand_on(request, reply);
	case EXCHANGE_IS_LOST: return refuse_lost(request, reply);
	case EXCHANGE_HAS_FAILED: return refuse_failed(request, reply);
	case EXCHANGE_IS_SWITCHED: reply->status = MHD_HTTP_SWITCHING_PROTOCOLS; return true;
	case EXCHANGE_IS_HERE:
		forwarder_note(request->api->forwarder, FORWARD_HERE);
		forwarding_drop(request);
		request->is_forwarded = false;
		return false;
	case EXCHANGE_WAITS: break;
	}
	request->exchange->carrier->note(request->exchange, FORWARD_LEFT);
	return false;
}

uint64_t forwarding_contact_ms(const struct api *api, const struct cluster_status *status)
{
	if (status->last_contact_ms >= 0)
		return (uint64_t)status->last_contact_ms;
	return (time_monotonic_ns(api->settings.time) - api->started_ns) / NS_PER_MS;
}
