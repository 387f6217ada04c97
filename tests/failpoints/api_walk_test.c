// The server of the API, of which any call of the system, GnuTLS or libmicrohttpd fails: whoever asks is told or cut
// off, nobody waits without end, and nothing is left behind.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/tools/api/line_stage.h"
#include "tests/tools/tls/made.h"
#include "tools/api/listen/listening.h"
#include "tools/http_client/http_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

// Who waits so long hangs, on however slow a machine.
#define TIMEOUT_MS 10000u

static struct made made;
static char client_certificate[100], client_key[100];
static const struct http_tls unverified = {
	.certificate_file = client_certificate, .key_file = client_key, .is_unverified = true};

struct serving {
	char socket[80], audit[80];
};

static void *prepare(const struct walk_row *row)
{
	struct serving *s = walk_shared(sizeof *s);

	snprintf(s->socket, sizeof s->socket, "%s/socket", made.folder);
	snprintf(s->audit, sizeof s->audit, "%s/audit", made.folder);
	return s;
}

static void clear(void *shared)
{
	struct serving *s = shared;

	unlink(s->socket);
	unlink(s->audit);
	assert_int_equal(munmap(s, sizeof *s), 0);
}

// NULL: the start was refused, and said so.
static struct server *begin(const struct serving *s, const struct credentials_files *tls)
{
	static char refusal[256];
	struct server_options options = {.nodes_max = 64,
		.has_line = true,
		.line_wait_ms = 1000,
		.socket = {.path = s->socket, .mode = 0600},
		.audit_path = s->audit,
		.refusal = refusal};

	*refusal = '\0';
	if (tls)
		options.tls = *tls;
	struct server *begun = server_start(&options);
	if (begun->api)
		return begun;
	walk_said(refusal);
	server_stop(begun);
	return NULL;
}

static struct credentials_files papers(const char *client_ca)
{
	return (struct credentials_files){
		made_path(&made, "server.pem"), made_path(&made, "server-key.pem"), client_ca};
}

struct heard {
	size_t size;
	bool is_enough; // the first bytes are
};

static bool hear(void *context, long status, const char *data, size_t size)
{
	struct heard *h = context;

	h->size += size;
	return !h->is_enough;
}

static const char *url_of(const struct server *s)
{
	static char url[64];

	snprintf(url, sizeof url, "http%s://127.0.0.1:%u", s->is_secure ? "s" : "",
		api_port(s->api));
	return url;
}

static bool is_answered(struct http_request request, bool is_stream)
{
	struct heard heard = {.is_enough = is_stream};
	struct http_result result = {.error = "libcurl cannot be set up"};
	struct http_client *client = http_client_create();

	request.timeout_ms = TIMEOUT_MS;
	request.take_body = hear;
	request.context = &heard;
	bool is_whole = http_client_ask(client, &request, &result);
	http_client_destroy(client);
	if (is_stream ? heard.size > 0 : is_whole && result.status == 200)
		return true;
	CHECK(!strstr(result.error, "timed out"));
	walk_said(is_whole ? "another status" : result.error);
	return false;
}

static bool ask(const struct server *s, const char *path)
{
	return is_answered((struct http_request){.url = url_of(s), .path = path}, false);
}

static bool start_and_stop(void *shared)
{
	struct serving *serving = shared;
	char at[100];
	const struct credentials_files tls = papers(made_path(&made, "ca.pem"));
	uint32_t descriptors = walk_descriptors();
	struct server *s = begin(serving, &tls);
	bool is_well = s != NULL;

	if (s) {
		char message[256] = "";
		snprintf(at, sizeof at, "unix://%s", serving->socket);
		is_well = is_answered(
			(struct http_request){.url = at, .path = "/v1/status/leader"}, false);
		is_well = is_answered((struct http_request){.url = url_of(s),
					      .path = "/v1/nodes",
					      .tls = &unverified},
				  false) &&
			  is_well;
		if (!api_reload(s->api, message, sizeof message)) {
			walk_said(message);
			is_well = false;
		}
		server_stop(s);
	}
	CHECK(walk_descriptors() == descriptors);
	return is_well;
}

// Where the last one listened the next one can.
static void look_at_socket(void *shared)
{
	const struct serving *s = shared;
	const struct listening_path at = {.path = s->socket, .mode = 0600};
	char message[256];

	CHECK(listen_at_path(&at, message, sizeof message) >= 0);
}

static bool ask_much(void *shared)
{
	static const char job[] =
		"{\"Job\":{\"ID\":\"b\",\"Type\":\"batch\",\"Datacenters\":[\"dc1\"],"
		"\"TaskGroups\":"
		"[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"}]}]}}";

	calls_pause(true);
	uint32_t descriptors = walk_descriptors();
	struct server *s = begin(shared, NULL);
	CHECK(s);
	calls_pause(false);
	bool is_well = ask(s, "/v1/nodes?index=1&wait=1ms");
	is_well = ask(s, "/v1/jobs?prefix=zz&index=100000&wait=3ms") && is_well;
	is_well = is_answered((struct http_request){.url = url_of(s),
				      .path = "/v1/jobs",
				      .method = "PUT",
				      .body = job,
				      .body_size = sizeof job - 1},
			  false) &&
		  is_well;
	is_well = is_answered((struct http_request){.url = url_of(s),
				      .path = "/v1/event/stream?index=1"},
			  true) &&
		  is_well;
	is_well = ask(s, "/v1/metrics?format=prometheus") && is_well;
	calls_pause(true);
	server_stop(s);
	calls_pause(false);
	CHECK(walk_descriptors() == descriptors);
	return is_well;
}

// Bytes of the command's WebSocket, as they are.
static bool hear_echo(struct http_socket *socket)
{
	const struct web_socket_stream *stream = http_socket_stream(socket);
	char heard[8] = "";
	ssize_t size = -1;

	if (stream->write(stream->context, "typed", 5) == 5)
		for (int tries = 0; tries < 100 && size < 0; tries++) {
			struct pollfd polled = {stream->fd, POLLIN, 0};
			(void)poll(&polled, 1, 100);
			size = stream->read(stream->context, heard, sizeof heard);
			if (size != -EAGAIN)
				break;
		}
	CHECK(size != -EAGAIN); // it would be waited for without end
	return size == 5 && memcmp(heard, "typed", 5) == 0;
}

static bool type_into_command(const struct server *s)
{
	char path[200], text[64];
	struct http_beginning body = {.text = text, .room = sizeof text};
	struct http_result result;
	struct http_request request = {
		.url = url_of(s), .path = path, .tls = &unverified, .timeout_ms = TIMEOUT_MS};

	snprintf(path, sizeof path, "/v1/client/allocation/%s/exec?task=t", stage.id);
	struct http_socket *socket = http_socket_open(&request, 1024, &result, &body);
	bool is_well = socket && hear_echo(socket);
	CHECK(socket || result.status || strcmp(result.error, "no answer came in time") != 0);
	walk_said(socket ? "the server closed the connection" : "no WebSocket was opened");
	http_socket_close(socket);
	return is_well;
}

static bool tunnel(void *shared)
{
	const struct credentials_files tls = papers("");

	calls_pause(true);
	uint32_t descriptors = walk_descriptors();
	struct server *s = begin(shared, &tls);
	CHECK(s);
	stage_begin(s);
	calls_pause(false);
	bool is_well = type_into_command(s);
	calls_pause(true);
	stage_end();
	server_stop(s);
	calls_pause(false);
	CHECK(walk_descriptors() == descriptors);
	return is_well;
}

// Of a tunnel only what others have not; its agent's end is the agent's.
static const char *const everywhere[] = {"at tools/api/", "at tools/tls/", NULL};
static const char *const of_tunnels[] = {"at tools/api/line/", "at tools/api/server/elsewhere/",
	"at tools/api/server/http.c", "at tools/http_client/http_socket.c", NULL};

static const struct {
	const char *name;
	const char *const *places;
	bool (*work)(void *shared);
} areas[] = {{"start", everywhere, start_and_stop}, {"ask", everywhere, ask_much},
	{"tunnel", of_tunnels, tunnel}};

static void who_asks_is_answered_or_told_and_nothing_is_left(void **area)
{
	// A mutex needs nothing, and neither does who wakes or waits; the log of events is made for the server; and a
	// file is closed when fclose() fails.
	static const char *const steady[] = {"write at tools/api/server/elsewhere/tunnels.c",
		"epoll_wait at tools/api/server/elsewhere/tunnels.c", "pthread_mutex_init at",
		"at tools/api/events/event_log.c", "fclose at", NULL};

	for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
		const struct walk w = {NULL, 0, prepare, areas[i].work, look_at_socket, clear};
		const struct call_walk_excuses excuses = {
			.only = areas[i].places, .cannot_fail = steady};
		if (strcmp(*area, areas[i].name) == 0)
			walk_calls(&w, &excuses);
	}
}

static int make_papers(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	made_sign(&made, "client", NULL, -10, 1000);
	snprintf(client_certificate, sizeof client_certificate, "%s",
		made_path(&made, "client.pem"));
	snprintf(client_key, sizeof client_key, "%s", made_path(&made, "client-key.pem"));
	return 0;
}

static int remove_papers(void **unused)
{
	made_end(&made);
	return 0;
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			who_asks_is_answered_or_told_and_nothing_is_left, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, make_papers, remove_papers);
}
