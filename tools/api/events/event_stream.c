#include "tools/api/events/event_stream.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/api/events/audit_events.h"
#include "tools/api/events/live_lines.h"
#include "tools/api/events/routes.h"
#include "tools/api/server/parking.h"
#include "tools/api/server/request.h"
#include <errno.h>
#include <stdlib.h>

#define HEARTBEAT_NS (10 * NS_PER_S)
// Newest events with which a stream without ?index= begins.
#define EVENTS_REPLAYED 100u
// Rough limit of a line and of a chunk.
#define LINE_BYTES (64u * 1024)
// Events that one turn visits: other streams share the thread.
#define EVENTS_PER_TURN 4096u

struct event_stream {
	struct reply_source source;
	struct live_lines lines;
	struct event_log *log;
	struct event_filter filter;
	struct audit_ring *audit; // NULL: its topic is not wanted
	uint64_t next, next_line; // event, and line of the audit log
	uint64_t beat_ns;         // when the next heartbeat is due
	bool ended;               // the writer holds the end of the stream
};

static _Atomic uint32_t streams_open;
static _Atomic uint64_t streams_lost;

void event_stream_count(struct event_stream_counts *counts)
{
	counts->open = atomic_load(&streams_open);
	counts->lost = atomic_load(&streams_lost);
}

static uint64_t now_ns(const struct event_stream *s)
{
	return time_monotonic_ns(s->lines.request->api->settings.time);
}

// Like Nomad, writes an empty object at once and when there is nothing else to write.
static void put_heartbeat(struct event_stream *s)
{
	json_write_plain(&s->lines.writer, "{}\n");
	s->beat_ns = now_ns(s) + HEARTBEAT_NS;
}

static void put_loss(struct event_stream *s)
{
	json_begin_object(&s->lines.writer);
	json_put_string(&s->lines.writer, "Error",
		"events were lost: this stream was read more slowly than the state changed; "
		"subscribe again, and list what you follow");
	json_end_object(&s->lines.writer);
	json_write_plain(&s->lines.writer, "\n");
	s->ended = true;
	atomic_fetch_add(&streams_lost, 1);
}

// Writes a line of the next events that share an index; nothing when the subscriber wants none of them. Returns events
// visited; 0 when there were none.
static uint32_t put_line(struct event_stream *s)
{
	struct state *state = s->lines.request->api->settings.state;
	struct json_writer line = {0};
	struct event event;
	uint64_t index = 0, head = event_log_head(s->log);
	uint32_t looked = 0;
	bool any = false;
	for (; s->next < head && looked < EVENTS_PER_TURN && line.size < LINE_BYTES; looked++) {
		if (!event_log_read(s->log, s->next, &event) ||
			(event_has_lost_its_name(&event) &&
				event_filter_has(&s->filter, event.topic))) {
			put_loss(s);
			break;
		}
		if (index && event.index != index)
			break;
		if (!index) {
			index = event.index;
			json_begin_object(&line);
			json_put_u64(&line, "Index", index);
			json_open_array(&line, "Events");
		}
		any = event_json(&line, state, &s->filter, &event) || any;
		s->next++;
	}
	if (any) {
		json_end_array(&line);
		json_end_object(&line);
		json_write_plain(&s->lines.writer, "%.*s\n", (int)line.size, line.data);
		s->beat_ns = now_ns(s) + HEARTBEAT_NS;
	}
	json_writer_free(&line);
	return looked;
}

// The same of the audit log.
static void put_audit_line(struct event_stream *s)
{
	struct audit_note note;
	uint64_t head = audit_ring_head(s->audit);
	uint32_t looked = 0;
	for (; s->next_line < head && looked < EVENTS_PER_TURN; looked++) {
		if (s->lines.writer.size >= LINE_BYTES)
			return;
		if (!audit_ring_read(s->audit, s->next_line++, &note)) {
			put_loss(s);
			return;
		}
		struct json_writer line = {0};
		json_begin_object(&line);
		json_put_u64(&line, "Index", note.index);
		json_open_array(&line, "Events");
		if (audit_event_json(&line, &s->filter, &note)) {
			json_end_array(&line);
			json_end_object(&line);
			json_write_plain(&s->lines.writer, "%.*s\n", (int)line.size, line.data);
			s->beat_ns = now_ns(s) + HEARTBEAT_NS;
		}
		json_writer_free(&line);
	}
}

static void fill_lines(struct event_stream *s)
{
	json_writer_clear(&s->lines.writer);
	s->lines.sent = 0;
	if (s->audit)
		put_audit_line(s);
	for (uint32_t looked = 0; !s->ended && looked < EVENTS_PER_TURN;) {
		uint32_t some = put_line(s);
		if (!some || s->lines.writer.size >= LINE_BYTES)
			break;
		looked += some;
	}
	if (!s->lines.writer.size && now_ns(s) >= s->beat_ns)
		put_heartbeat(s);
}

static bool stream_is_ready(const void *context)
{
	const struct event_stream *s = context;
	return event_log_head(s->log) > s->next ||
	       (s->audit && audit_ring_head(s->audit) > s->next_line);
}

static ssize_t read_stream(void *source, uint64_t position, char *to, size_t most)
{
	static const struct parked_kind more_events = {.is_ready = stream_is_ready};
	struct event_stream *s = source;
	struct request *request = s->lines.request;
	struct parking *parking = request->api->parking;
	if (live_lines_are_sent(&s->lines)) {
		if (s->ended || !live_lines_are_wanted(&s->lines) || !event_filter_may(&s->filter))
			return MHD_CONTENT_READER_END_OF_STREAM;
		fill_lines(s);
	}
	if (live_lines_are_sent(&s->lines)) {
		uint64_t due_ns = live_lines_deadline_ns(&s->lines, s->beat_ns);
		parking_park(parking, request, &more_events, s, stream_is_ready(s) ? 0 : due_ns);
		return 0;
	}
	return live_lines_send(&s->lines, to, most);
}

static void free_stream(void *source)
{
	struct event_stream *s = source;
	event_log_listen(s->log, false);
	if (s->audit)
		audit_ring_listen(s->audit, false);
	atomic_fetch_sub(&streams_open, 1);
	event_filter_free(&s->filter);
	json_writer_free(&s->lines.writer);
	free(s);
}

// Reads ?index=, 0 without one; UINT64_MAX: what comes from now on. False with a reply.
static bool read_index(const struct request *request, uint64_t *from, struct reply *reply)
{
	const char *text = request_parameter(request, "index");
	uint64_t index = 0;
	char *end = NULL;
	errno = 0;
	*from = UINT64_MAX;
	if (text && strcmp(text, "now") == 0)
		return true;
	if (text && *text)
		index = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (text && *text && (!end || *end || errno))
		return reply_mistake(reply,
			"Invalid index: \"%.64s\" is no number; pass that of the newest event "
			"seen, or now",
			text);
	*from = index;
	return true;
}

static uint64_t newest_few(uint64_t head)
{
	return head > EVENTS_REPLAYED ? head - EVENTS_REPLAYED : 0;
}

// Where the stream begins in the log of events.
static uint64_t first_event(const struct event_log *log, uint64_t from)
{
	uint64_t head = event_log_head(log);
	if (from == UINT64_MAX)
		return head;
	return from ? event_log_find(log, from) : newest_few(head);
}

// Where it begins in the lines of the audit log.
static uint64_t first_line(struct audit_ring *ring, uint64_t from)
{
	uint64_t head = audit_ring_head(ring);
	if (from == UINT64_MAX)
		return head;
	return from ? audit_ring_find(ring, from) : newest_few(head);
}

static void follow_audit(struct event_stream *s, struct audit_ring *ring, uint64_t from)
{
	s->audit = ring;
	s->next_line = first_line(ring, from);
	audit_ring_listen(ring, true);
}

void event_stream(struct request *request, struct reply *reply)
{
	struct event_log *log = request->api->settings.events;
	struct audit_ring *ring = request->api->audit_ring;
	struct event_filter filter;
	uint64_t from = 0;
	if (!log) {
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "this server keeps no events");
		return;
	}
	if (!read_index(request, &from, reply) || !event_filter_read(request, &filter, reply))
		return;
	if (audit_events_are_wanted(&filter) && !ring) {
		event_filter_free(&filter);
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
			"this server keeps no audit log (audit.path), so the topic Audit has no "
			"events");
		return;
	}
	struct event_stream *s = memory_take(sizeof *s);
	// The stream is never compressed: a line would wait for later ones.
	s->source = (struct reply_source){LINE_BYTES, read_stream, free_stream, NULL};
	s->lines.request = request;
	s->log = log;
	s->filter = filter;
	s->next = first_event(log, from);
	if (audit_events_are_wanted(&s->filter))
		follow_audit(s, ring, from);
	event_log_listen(log, true);
	atomic_fetch_add(&streams_open, 1);
	put_heartbeat(s);
	reply->status = MHD_HTTP_OK;
	reply->content_type = API_TEXT_JSON;
	reply->source = &s->source;
}
