// /v1/agent/monitor: the agent's log as it is written, in frames of Nomad's form or as lines alone.
//
//	{"Data":BASE64,"FileEvent":"log"}    a line
//	{}                                   at once, and when there was nothing for a second
#include "state/base/base64.h"
#include "state/base/log/log_ring.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_socket.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BEAT_NS NS_PER_S
#define FRAME_BYTES (BASE64_ENCODED(LOG_LINE_BYTES) + 64)

struct agent_monitor {
	const struct service_request *request;
	struct log_follower follower;
	int news_fd; // readable when there is a line
	bool is_json, is_plain;
	uint64_t next, lost; // lines; lost: not told yet
	uint64_t beat_ns;    // monotonic; when the next heartbeat is due
};

static void wake_monitor(void *context)
{
	const struct agent_monitor *m = context;
	uint64_t one = 1;
	// Full means that it is readable anyway.
	(void)!write(m->news_fd, &one, sizeof one);
}

static size_t write_note(const struct agent_monitor *m, const struct log_note *note, char *to)
{
	char line[LOG_LINE_BYTES];
	static const char begin[] = "{\"Data\":\"", end[] = "\",\"FileEvent\":\"log\"}";
	uint32_t size = log_format(note, m->is_json, line);
	if (m->is_plain) {
		memcpy(to, line, size);
		return size;
	}
	char *at = to + sizeof begin - 1;
	memcpy(to, begin, sizeof begin - 1);
	base64_write(at, (const uint8_t *)line, size);
	at += BASE64_ENCODED(size);
	memcpy(at, end, sizeof end - 1);
	return (size_t)(at - to) + sizeof end - 1;
}

static size_t write_loss(struct agent_monitor *m, char *to)
{
	struct log_note note = {.level = LOG_WARN, .event = "monitor-lost-lines"};
	note.wall_ns = time_wall_ns(m->request->settings->time);
	snprintf(note.fields, sizeof note.fields, "lines=%llu", (unsigned long long)m->lost);
	m->lost = 0;
	return write_note(m, &note, to);
}

// The next line, after how many were missed. 0: there is none now.
static size_t write_line(struct agent_monitor *m, char *to)
{
	struct log_note note;
	uint64_t head = log_ring_head();
	if (head - m->next > LOG_RING_LINES) {
		m->lost += head - m->next - LOG_RING_LINES;
		m->next = head - LOG_RING_LINES;
	}
	while (m->next < head) {
		bool is_there = log_ring_read(m->next, &note);
		bool is_wanted = is_there && note.level >= m->follower.least;
		if (is_wanted && m->lost)
			return write_loss(m, to);
		m->next++;
		m->lost += !is_there;
		if (is_wanted)
			return write_note(m, &note, to);
	}
	return 0;
}

static ssize_t monitor_read(void *context, uint64_t position, char *to, size_t most)
{
	struct agent_monitor *m = context;
	uint64_t number;
	if (most < FRAME_BYTES)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	for (;;) {
		size_t size = write_line(m, to);
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		bool is_due = now_ns >= m->beat_ns;
		if (size || is_due)
			m->beat_ns = now_ns + BEAT_NS;
		if (size)
			return (ssize_t)size;
		if (is_due && !m->is_plain) {
			memcpy(to, "{}", 2);
			return 2;
		}
		int wait_ms = (int)((m->beat_ns - now_ns) / NS_PER_MS) + 1;
		if (service_wait(m->request, m->news_fd, wait_ms) == SERVICE_OVER)
			return MHD_CONTENT_READER_END_WITH_ERROR;
		(void)!read(m->news_fd, &number, sizeof number);
	}
}

static void monitor_free(void *context)
{
	struct agent_monitor *m = context;
	log_ring_leave(&m->follower);
	close(m->news_fd);
	free(m);
}

// The controller has refused a word that means nothing.
static enum log_level level_asked(const struct service_request *request)
{
	const char *word = service_parameter(request, "log_level");
	if (word && (strcasecmp(word, "debug") == 0 || strcasecmp(word, "trace") == 0))
		return LOG_DEBUG;
	if (word && strcasecmp(word, "warn") == 0)
		return LOG_WARN;
	return word && strcasecmp(word, "error") == 0 ? LOG_ERROR : LOG_INFO;
}

struct MHD_Response *agent_monitor(struct service_request *request, unsigned *status)
{
	bool is_json = false, is_plain = false;
	int news_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (news_fd < 0)
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"nobody can follow the log now: %s", strerror(errno));
	// What is no boolean it has refused, too.
	(void)service_parameter_bool(request, "log_json", &is_json);
	(void)service_parameter_bool(request, "plain", &is_plain);
	struct agent_monitor *m = memory_take(sizeof *m);
	*m = (struct agent_monitor){
		.request = request, .news_fd = news_fd, .is_json = is_json, .is_plain = is_plain};
	m->follower = (struct log_follower){level_asked(request), wake_monitor, m, NULL};
	m->next = log_ring_follow(&m->follower);
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, FRAME_BYTES, monitor_read, m, monitor_free);
	if (!response) {
		monitor_free(m);
		return NULL;
	}
	*status = MHD_HTTP_OK;
	service_put_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, is_plain ? SERVICE_TEXT : SERVICE_JSON);
	return response;
}
