#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/etcd/etcd_answer.h"
#include "state/etcd/etcd_auth.h"
#include "state/etcd/etcd_item.h"
#include <errno.h>
#include <stdio.h>

#define WAIT_MS 100u
#define CONNECT_MS 1000u
// After so much silence etcd is asked something that it can only answer together with the others: a member that was
// stopped, or is cut off from them, keeps a stream open and says nothing.
#define QUIET_MS 1000u
// etcd cuts events into answers of less than 2 MiB.
#define STREAM_BYTES_MAX (16u * 1024 * 1024)

enum { SLOT_STREAM, SLOT_PROBE };

struct stream {
	struct etcd *etcd;
	const struct etcd_watch *watch;
	struct etcd_line *line;
	struct etcd_exchange *answers, *probe;
	uint32_t endpoint;
	uint64_t begun_ns, heard_ns;
	size_t scanned; // of the answer: no line ends before
	bool is_created, is_probing;
	int error; // 0: goes on
};

static void stream_fail(struct stream *s, int error, const char *what)
{
	s->error = error;
	if (error == -ETIMEDOUT || error == -EPROTO)
		etcd_endpoint_failed(s->etcd, s->endpoint, what);
	else if (error != -ECANCELED)
		etcd_note(s->etcd, s->endpoint, what);
}

static void watch_write(struct bytes_writer *w, const struct etcd_watch *watch)
{
	ETCD_JSON_PUT(w, "{\"create_request\":{\"key\":");
	etcd_json_put_key(w, watch->key);
	if (watch->end) {
		ETCD_JSON_PUT(w, ",\"range_end\":");
		etcd_json_put_key(w, watch->end);
	}
	if (watch->from) {
		ETCD_JSON_PUT(w, ",\"start_revision\":");
		etcd_json_put_u64(w, watch->from);
	}
	ETCD_JSON_PUT(w, ",\"progress_notify\":true,\"fragment\":true}}");
}

static void probe_write(struct bytes_writer *w, const struct etcd_watch *watch)
{
	ETCD_JSON_PUT(w, "{\"key\":");
	etcd_json_put_key(w, watch->key);
	ETCD_JSON_PUT(w, ",\"keys_only\":true}");
}

static void event_read(struct etcd_json *j, struct stream *s)
{
	struct text name;
	struct etcd_item item = {.key = "", .value = ""};
	bool was_deleted = false;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "type"))
			was_deleted = etcd_json_is(etcd_json_text(j), "DELETE");
		else if (etcd_json_is(name, "kv"))
			etcd_item_read(j, &item);
		else
			etcd_json_skip(j);
	}
	if (j->failed || s->error)
		return;
	if (!s->watch->changed(s->watch->context, &item, was_deleted))
		s->error = -ECANCELED;
}

struct stream_answer {
	bool is_created, is_cancelled;
	uint64_t compact_revision;
	struct text reason;
};

static void result_read(struct etcd_json *j, struct stream *s, struct stream_answer *a)
{
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "created"))
			a->is_created = etcd_json_bool(j);
		else if (etcd_json_is(name, "canceled"))
			a->is_cancelled = etcd_json_bool(j);
		else if (etcd_json_is(name, "compact_revision"))
			a->compact_revision = etcd_json_u64(j);
		else if (etcd_json_is(name, "cancel_reason"))
			a->reason = etcd_json_text(j);
		else if (etcd_json_is(name, "events")) {
			etcd_json_enter(j, '[');
			while (etcd_json_element(j))
				event_read(j, s);
		} else
			etcd_json_skip(j);
	}
}

static void stream_end(struct stream *s, const struct stream_answer *a)
{
	struct etcd_outcome o = etcd_reason_outcome(a->reason);
	if (a->compact_revision)
		stream_fail(s, -ERANGE, "the revision of the watch was compacted");
	else
		stream_fail(
			s, o.error, o.text[0] ? o.text : "the watch was ended without a reason");
}

static void stream_line(struct stream *s, char *text, size_t size)
{
	struct etcd_outcome o = etcd_answer_outcome(200, text, size);
	if (o.verdict != VERDICT_ANSWERED) {
		stream_fail(s, o.error, o.text);
		return;
	}
	struct etcd_json j = etcd_json_over(text, size);
	struct stream_answer a = {.reason = TEXT("")};
	struct text name;
	etcd_json_enter(&j, '{');
	while (etcd_json_member(&j, &name)) {
		if (etcd_json_is(name, "result"))
			result_read(&j, s, &a);
		else
			etcd_json_skip(&j);
	}
	if (s->error)
		return;
	if (j.failed)
		stream_fail(s, -EPROTO, "a line of a watch that can not be read");
	else if (a.is_cancelled)
		stream_end(s, &a);
	else if (a.is_created && !s->is_created) {
		s->is_created = true;
		etcd_endpoint_answered(s->etcd, s->endpoint);
		if (s->watch->began)
			s->watch->began(s->watch->context);
	}
}

// The lines that are whole; what is left of one moves to the front.
static void stream_read(struct stream *s)
{
	struct bytes_writer *answer = &s->answers->answer;
	size_t at = 0;
	if (answer->size == s->scanned)
		return;
	s->heard_ns = etcd_now_ns();
	for (uint8_t *end; !s->error && (end = memchr(answer->data + s->scanned, '\n',
						 answer->size - s->scanned));) {
		size_t next = (size_t)(end - answer->data) + 1;
		if (next - 1 > at)
			stream_line(s, (char *)answer->data + at, next - 1 - at);
		at = s->scanned = next;
	}
	memmove(answer->data, answer->data + at, answer->size - at);
	answer->size -= at;
	s->scanned = answer->size;
	if (answer->size > STREAM_BYTES_MAX && !s->error)
		stream_fail(s, -EPROTO, "a line of a watch without an end");
}

static void probe_begin(struct stream *s)
{
	struct etcd_limits limits = {.connect_ms = CONNECT_MS, .whole_ms = s->etcd->timeout_ms};
	s->probe = etcd_exchange_ready(s->etcd, s->line, SLOT_PROBE);
	probe_write(&s->probe->request, s->watch);
	etcd_exchange_begin(s->etcd, s->line, s->probe, "/v3/kv/range", s->endpoint, limits);
	s->is_probing = true;
}

static void probe_done(struct stream *s)
{
	struct etcd_outcome o = etcd_exchange_outcome(s->probe);
	struct etcd_limits limits = {.connect_ms = CONNECT_MS, .whole_ms = s->etcd->timeout_ms};
	s->is_probing = false;
	s->heard_ns = etcd_now_ns();
	if (o.verdict == VERDICT_TOKEN)
		s->error = etcd_token_renew(s->etcd, s->endpoint, s->probe->token_number, limits);
	else if (o.verdict == VERDICT_UNKNOWN || o.verdict == VERDICT_NOT_DONE)
		stream_fail(s, o.error, o.text);
}

static void stream_look(struct stream *s)
{
	uint64_t now = etcd_now_ns();
	const struct etcd_exchange *x = s->answers;
	if (x->is_done && x->code == CURLE_OK && x->status == 200)
		stream_fail(s, -ETIMEDOUT, "the watch came to its end");
	else if (x->is_done) {
		struct etcd_outcome o = etcd_exchange_outcome(x);
		stream_fail(s, o.error, o.text);
	} else if (!s->is_created && now - s->begun_ns > s->etcd->timeout_ms * NS_PER_MS)
		stream_fail(s, -ETIMEDOUT, "no answer to a watch in time");
	else if (s->is_probing && s->probe->is_done)
		probe_done(s);
	else if (s->is_created && !s->is_probing && now - s->heard_ns > QUIET_MS * NS_PER_MS)
		probe_begin(s);
}

// A watch at one endpoint, to its end.
static void stream_run(struct stream *s)
{
	struct etcd_limits limits = {.connect_ms = CONNECT_MS};
	s->answers = etcd_exchange_ready(s->etcd, s->line, SLOT_STREAM);
	watch_write(&s->answers->request, s->watch);
	s->begun_ns = s->heard_ns = etcd_now_ns();
	s->scanned = 0;
	s->error = 0;
	etcd_exchange_begin(s->etcd, s->line, s->answers, "/v3/watch", s->endpoint, limits);
	while (!s->error) {
		if (s->watch->is_cancelled && s->watch->is_cancelled(s->watch->context)) {
			s->error = -ECANCELED;
			break;
		}
		etcd_line_work(s->line, WAIT_MS);
		if (s->answers->status == 0 || s->answers->status == 200)
			stream_read(s);
		if (!s->error)
			stream_look(s);
	}
	etcd_exchange_cancel(s->line, s->answers);
	if (s->is_probing)
		etcd_exchange_cancel(s->line, s->probe);
	s->is_probing = false;
}

// A token may have ended, which etcd calls a permission that is missing; a new one is asked for once.
static bool stream_may_try_token(struct stream *s, bool *had_token)
{
	struct etcd_limits limits = {.connect_ms = CONNECT_MS, .whole_ms = s->etcd->timeout_ms};
	if (s->is_created || s->error != -EACCES || *had_token || !s->etcd->user)
		return false;
	*had_token = true;
	return etcd_token_renew(s->etcd, s->endpoint, s->answers->token_number, limits) == 0;
}

int etcd_watch(struct etcd *e, const struct etcd_watch *watch)
{
	struct stream s = {
		.etcd = e, .watch = watch, .line = etcd_line_take(e), .error = -ETIMEDOUT};
	struct etcd_limits limits = {.connect_ms = CONNECT_MS, .whole_ms = e->timeout_ms};
	uint32_t tried = 0;
	bool had_token = false;
	CHECK(watch->changed);
	for (int endpoint; (endpoint = etcd_endpoint_choose(e, tried)) >= 0;) {
		tried |= 1u << endpoint;
		s.endpoint = (uint32_t)endpoint;
		if (etcd_token_is_missing(e))
			etcd_token_renew(e, s.endpoint, ETCD_NO_TOKEN, limits);
		stream_run(&s);
		if (stream_may_try_token(&s, &had_token))
			tried &= ~(1u << endpoint);
		else if (s.is_created || (s.error != -ETIMEDOUT && s.error != -EPROTO))
			break;
	}
	etcd_line_give_back(e, s.line);
	return s.error;
}
