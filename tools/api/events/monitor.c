// The log of the server, live: frames as Nomad sends them, with its lines in base64, or the lines alone.
#include "state/base/base64.h"
#include "state/base/log/log_ring.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/node.h"
#include "tools/api/events/live_lines.h"
#include "tools/api/events/routes.h"
#include "tools/api/server/elsewhere/forwarding.h"
#include "tools/api/server/elsewhere/node_line.h"
#include "tools/api/server/parking.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEARTBEAT_NS NS_PER_S
// Lines that one turn writes: other streams share the thread.
#define LINES_PER_TURN 16u

struct monitor {
	struct reply_source source;
	struct live_lines lines;
	struct log_follower follower;
	bool is_json, is_plain;
	uint64_t next, lost; // lines; lost: not told yet
	uint64_t beat_ns;    // when the next heartbeat is due
};

static uint64_t now_ns(const struct monitor *m)
{
	return time_monotonic_ns(m->lines.request->api->settings.time);
}

static void put_frame(struct monitor *m, const char *text, uint32_t size)
{
	if (m->is_plain) {
		json_write_plain(&m->lines.writer, "%.*s", (int)size, text);
		return;
	}
	char *data = base64_encode((struct text){text, size});
	json_write_plain(&m->lines.writer, "{\"Data\":\"%s\",\"FileEvent\":\"log\"}", data);
	free(data);
}

static void put_note(struct monitor *m, const struct log_note *note)
{
	char text[LOG_LINE_BYTES];
	put_frame(m, text, log_format(note, m->is_json, text));
}

static void put_loss(struct monitor *m)
{
	struct log_note note = {.level = LOG_WARN, .event = "monitor-lost-lines"};
	note.wall_ns = time_wall_ns(m->lines.request->api->settings.time);
	snprintf(note.fields, sizeof note.fields, "lines=%llu", (unsigned long long)m->lost);
	put_note(m, &note);
	m->lost = 0;
}

// What gave way to newer lines is counted, and told before the next one that is there.
static void put_lines(struct monitor *m)
{
	struct log_note note;
	uint64_t head = log_ring_head();
	if (head - m->next > LOG_RING_LINES) {
		m->lost += head - m->next - LOG_RING_LINES;
		m->next = head - LOG_RING_LINES;
	}
	for (uint32_t looked = 0; m->next < head && looked < LINES_PER_TURN; looked++) {
		bool is_there = log_ring_read(m->next++, &note);
		m->lost += !is_there;
		if (!is_there || note.level < m->follower.least)
			continue;
		if (m->lost)
			put_loss(m);
		put_note(m, &note);
	}
}

static void fill_lines(struct monitor *m)
{
	json_writer_clear(&m->lines.writer);
	m->lines.sent = 0;
	put_lines(m);
	bool is_due = now_ns(m) >= m->beat_ns;
	if (!m->lines.writer.size && is_due && !m->is_plain)
		json_write_plain(&m->lines.writer, "{}");
	if (m->lines.writer.size || is_due)
		m->beat_ns = now_ns(m) + HEARTBEAT_NS;
}

static bool has_more(const void *context)
{
	const struct monitor *m = context;
	return log_ring_head() > m->next;
}

static ssize_t read_monitor(void *source, uint64_t position, char *to, size_t most)
{
	static const struct parked_kind more_lines = {.is_ready = has_more};
	struct monitor *m = source;
	struct request *request = m->lines.request;
	if (live_lines_are_sent(&m->lines)) {
		if (!live_lines_are_wanted(&m->lines))
			return MHD_CONTENT_READER_END_OF_STREAM;
		fill_lines(m);
	}
	if (live_lines_are_sent(&m->lines)) {
		uint64_t due_ns = live_lines_deadline_ns(&m->lines, m->beat_ns);
		parking_park(
			request->api->parking, request, &more_lines, m, has_more(m) ? 0 : due_ns);
		return 0;
	}
	return live_lines_send(&m->lines, to, most);
}

static void free_monitor(void *source)
{
	struct monitor *m = source;
	log_ring_leave(&m->follower);
	json_writer_free(&m->lines.writer);
	free(m);
}

static void wake_stream(void *parking)
{
	parking_wake_soon(parking);
}

// False with a reply.
static bool read_level(const struct request *request, enum log_level *level, struct reply *reply)
{
	static const struct {
		const char *word;
		enum log_level level;
	} levels[] = {{"trace", LOG_DEBUG}, {"debug", LOG_DEBUG}, {"info", LOG_INFO},
		{"warn", LOG_WARN}, {"error", LOG_ERROR}};
	const char *typed = request_parameter(request, "log_level");
	*level = LOG_INFO;
	if (!typed || !*typed)
		return true;
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (strcasecmp(levels[i].word, typed) == 0) {
			*level = levels[i].level;
			return true;
		}
	return reply_mistake(reply, "Unknown log level: %.64s", typed);
}

// The log of a node is the node's to tell. True: none is asked for.
static bool asks_no_node(struct request *request, struct reply *reply, const char *target)
{
	const char *given = request_parameter(request, "node_id");
	const char *server = request_parameter(request, "server_id");
	struct uuid id;
	if (!given || !*given)
		return true;
	if (server && *server)
		return reply_mistake(reply, "Cannot target node and server simultaneously");
	state_read_begin();
	const struct node *node =
		uuid_parse(given, &id) ? state_node_by_id(request->api->settings.state, &id) : NULL;
	bool is_known = node != NULL;
	bool is_away = node && (node->status == NODE_DOWN || node->status == NODE_DISCONNECTED);
	state_read_end();
	if (!is_known)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"RPC Error:: 404,Unknown node \"%.64s\"", given);
	else if (is_away)
		reply_error(reply, MHD_HTTP_NOT_FOUND, "No path to node");
	else
		ask_node(request, reply, &id, target);
	return false;
}

// What was asked of the leader was handed on to it.
static bool asks_this_server(const struct request *request, struct reply *reply)
{
	struct cluster_member member;
	const char *server = request_parameter(request, "server_id");
	if (!server || !*server)
		return true;
	if (!server_find(request, server, &member))
		return reply_mistake(reply, "unknown Nomad server %.64s", server);
	if (!member.is_self)
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
			"this server hands on no log of another that follows: ask %s", member.http);
	return member.is_self;
}

void agent_monitor(struct request *request, struct reply *reply, const char *target)
{
	enum log_level level;
	if (!read_level(request, &level, reply) || !asks_no_node(request, reply, target) ||
		!asks_this_server(request, reply))
		return;
	struct monitor *m = memory_take(sizeof *m);
	m->source = (struct reply_source){
		LINES_PER_TURN * LOG_LINE_BYTES, read_monitor, free_monitor, NULL};
	m->lines.request = request;
	m->is_json = request_flag(request, "log_json");
	m->is_plain = request_flag(request, "plain");
	m->follower = (struct log_follower){level, wake_stream, request->api->parking, NULL};
	m->next = log_ring_follow(&m->follower);
	m->beat_ns = now_ns(m); // at once: the follower sees that it is heard
	reply->status = MHD_HTTP_OK;
	reply->content_type = m->is_plain ? "text/plain" : API_TEXT_JSON;
	reply->source = &m->source;
}
