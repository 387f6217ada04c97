// What can be said of the client without a server; berth, berth-fleet and peers are tested against real ones.
#include "tools/http_client/http_environment.h"
#include "tools/http_client/http_socket.h"
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

// For whoever answers.
#define PATIENCE_MS 60000u

static void a_segment_is_escaped_as_far_as_it_fits(void **unused)
{
	char buffer[32];
	assert_string_equal(http_escape("a-Z_0.~", buffer, sizeof buffer), "a-Z_0.~");
	assert_string_equal(http_escape("a/b c", buffer, sizeof buffer), "a%2Fb%20c");
	assert_string_equal(http_escape("\xc3\xa9", buffer, sizeof buffer), "%C3%A9");
	assert_string_equal(http_escape("", buffer, sizeof buffer), "");
	assert_string_equal(http_escape("////", buffer, 8), "%2F%2F");
}

static void the_beginning_of_an_answer_is_kept(void **unused)
{
	char text[6] = "";
	struct http_beginning b = {.text = text, .room = sizeof text};
	http_beginning_take(&b, "abc", 3);
	assert_string_equal(text, "abc");
	http_beginning_take(&b, "defg", 4);
	assert_string_equal(text, "abcde");
	http_beginning_take(&b, "h", 1);
	assert_int_equal(b.size, 5);
}

static bool take_nothing(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void who_does_not_answer_is_named_with_a_reason(void **unused)
{
	struct http_client *client = http_client_create();
	struct http_request request = {
		.url = "http://127.0.0.1:1/", .timeout_ms = 1000, .take_body = take_nothing};
	struct http_result result;
	assert_non_null(client);
	assert_false(http_client_ask(client, &request, &result));
	assert_int_equal(result.status, 0);
	assert_true(strlen(result.kind) > 0 && strlen(result.error) > 0);
	request.url = "file:///etc/passwd";
	assert_false(http_client_ask(client, &request, &result));
	http_client_destroy(client);
	http_client_destroy(NULL);
}

// A server of one request: what it was sent.
struct once {
	int fd;
	const char *answer; // NULL: "ok"; "": none, until the client leaves
	char request[2048];
};

static void *answer_once(void *context)
{
	struct once *o = context;
	const char *answer =
		o->answer ? o->answer : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char byte;
	int fd = accept(o->fd, NULL, NULL);
	ssize_t size = read(fd, o->request, sizeof o->request - 1);
	o->request[size > 0 ? size : 0] = '\0';
	assert_int_equal(write(fd, answer, strlen(answer)), strlen(answer));
	if (!*answer)
		assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	return NULL;
}

static void expect_sent(struct http_request request, struct once *o, const char *const *lines)
{
	struct http_client *client = http_client_create();
	struct http_result result;
	pthread_t thread;
	request.timeout_ms = PATIENCE_MS;
	request.take_body = take_nothing;
	assert_int_equal(pthread_create(&thread, NULL, answer_once, o), 0);
	assert_true(http_client_ask(client, &request, &result));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result.status, 200);
	for (; *lines; lines++)
		if (!strstr(o->request, *lines))
			fail_msg("%s is not in:\n%s", *lines, o->request);
	http_client_destroy(client);
}

static struct once listen_once(char url[static 64])
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	struct once o = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	assert_int_equal(bind(o.fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(o.fd, 1), 0);
	assert_int_equal(getsockname(o.fd, (struct sockaddr *)&address, &size), 0);
	snprintf(url, 64, "http://127.0.0.1:%u", ntohs(address.sin_port));
	return o;
}

static void path_token_and_program_are_sent(void **unused)
{
	char url[64];
	struct once o = listen_once(url);
	expect_sent(
		(struct http_request){
			.url = url, .path = "/v1/a?b=c", .token = "secret", .agent = "p"},
		&o,
		(const char *[]){"GET /v1/a?b=c HTTP/1.1\r\n", "\r\nX-Nomad-Token: secret\r\n",
			"\r\nUser-Agent: p\r\n", NULL});
	expect_sent((struct http_request){.url = url, .token = ""}, &o,
		(const char *[]){"GET / HTTP/1.1\r\n", NULL});
	assert_null(strstr(o.request, "X-Nomad-Token"));
	close(o.fd);
}

// What a WebSocket was asked for and answered with; whether anybody was asked at all.
static struct http_result refused_socket(
	const char *answer, uint32_t timeout_ms, char body[static 64], bool *was_asked)
{
	char url[64];
	struct once o = listen_once(url);
	struct http_request request = {.url = url, .path = "/v1/a", .timeout_ms = timeout_ms};
	struct http_beginning beginning = {.text = body, .room = 64};
	struct http_result result;
	pthread_t thread;
	o.answer = answer;
	assert_int_equal(pthread_create(&thread, NULL, answer_once, &o), 0);
	assert_null(http_socket_open(&request, 1024, &result, &beginning));
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(o.fd);
	*was_asked = o.request[0] != '\0';
	return result;
}

static void who_is_no_web_socket_is_told_apart(void **unused)
{
	static char endless[20000];
	static const struct {
		const char *answer, *error;
	} rows[] = {
		{"SSH-2.0-server\r\n\r\n", "the server speaks no HTTP"},
		{"HTTP/1.1 101 Yes\r\nSec-WebSocket-Accept: other\r\n\r\n",
			"the server answers the handshake of WebSockets wrongly"},
		{"HTTP/1.1 101 Yes\r\n\r\n",
			"the server answers the handshake of WebSockets wrongly"},
		{"HTTP/1.1 101 Y", "the server closed the connection"},
		{endless, "the answer's head is too long"},
	};
	char body[64] = "";
	struct http_result result;
	bool was_asked;
	memset(endless, 'a', sizeof endless - 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		result = refused_socket(rows[i].answer, PATIENCE_MS, body, &was_asked);
		assert_int_equal(result.status, 0);
		assert_string_equal(result.error, rows[i].error);
	}
	uint32_t brief_ms = 50;
	do { // until there is time left to ask
		brief_ms *= 2;
		result = refused_socket("", brief_ms, body, &was_asked);
	} while (!was_asked);
	assert_string_equal(result.error, "no answer came in time");
	result = refused_socket(
		"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno", PATIENCE_MS, body, &was_asked);
	assert_int_equal(result.status, 403);
	assert_string_equal(body, "no");
}

// A socket in a folder of its own.
struct local {
	char folder[32], url[128];
	struct sockaddr_un address;
};

static struct once listen_locally(struct local *l)
{
	struct once o = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	*l = (struct local){
		.folder = "/tmp/berth-client-XXXXXX", .address = {.sun_family = AF_UNIX}};
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->address.sun_path, sizeof l->address.sun_path, "%s/s", l->folder);
	assert_int_equal(bind(o.fd, (struct sockaddr *)&l->address, sizeof l->address), 0);
	assert_int_equal(listen(o.fd, 1), 0);
	snprintf(l->url, sizeof l->url, "unix://%s", l->address.sun_path);
	return o;
}

static void end_locally(struct local *l, struct once *o)
{
	close(o->fd);
	unlink(l->address.sun_path);
	rmdir(l->folder);
}

// A server that takes the connection and nothing that is sent over it.
static void what_nobody_reads_is_given_up(void **unused)
{
	static char token[1024 * 1024];
	struct local l;
	struct once o = listen_locally(&l);
	struct http_request request = {
		.url = l.url, .path = "/v1/a", .token = token, .timeout_ms = 50};
	struct http_beginning beginning = {0};
	struct http_result result;
	memset(token, 't', sizeof token - 1);
	assert_null(http_socket_open(&request, 1024, &result, &beginning));
	assert_string_equal(result.error, "no answer came in time");
	end_locally(&l, &o);
}

static void a_socket_is_asked_by_its_path(void **unused)
{
	struct local l;
	struct once o = listen_locally(&l);
	// The name of a server is nothing to a socket.
	struct http_tls tls = {.server_name = "berth.example"};
	expect_sent((struct http_request){.url = l.url, .path = "/v1/a", .tls = &tls}, &o,
		(const char *[]){"GET /v1/a HTTP/1.1\r\n", "\r\nHost: localhost\r\n", NULL});
	end_locally(&l, &o);
}

static void the_environment_is_read_by_two_names(void **unused)
{
	unsetenv("BERTH_CACERT");
	setenv("NOMAD_CACERT", "n", 1);
	assert_string_equal(http_environment("CACERT"), "n");
	setenv("BERTH_CACERT", "b", 1);
	assert_string_equal(http_environment_tls().ca_file, "b");
	setenv("BERTH_CACERT", "", 1);
	assert_string_equal(http_environment_tls().ca_file, "n");
	unsetenv("NOMAD_CACERT");
	assert_null(http_environment("CACERT"));
	setenv("BERTH_SKIP_VERIFY", "no", 1);
	assert_false(http_environment_tls().is_unverified);
	setenv("BERTH_SKIP_VERIFY", "true", 1);
	assert_true(http_environment_tls().is_unverified);
	unsetenv("BERTH_SKIP_VERIFY");
	assert_false(http_word_is_yes(NULL));
}

static void urls_are_of_three_kinds(void **unused)
{
	static const char *const good[] = {"http://a", "https://a:1", "HTTPS://a", "unix:///a"};
	static const char *const bad[] = {
		"", "a:1", "ftp://a", "http://", "unix://", "unix://a", "unix:///"};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_true(http_url_is_fit(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(http_url_is_fit(bad[i]));
}

static void a_socket_path_that_is_none_is_refused(void **unused)
{
	char url[256] = "unix:///";
	struct http_client *client = http_client_create();
	struct http_result result;
	struct http_request request = {.url = url, .path = "/", .take_body = take_nothing};
	memset(url + 8, 'a', 200);
	assert_false(http_client_ask(client, &request, &result));
	assert_true(strlen(result.error) > 0);
	request.url = "unix://relative";
	assert_false(http_client_ask(client, &request, &result));
	http_client_destroy(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_is_escaped_as_far_as_it_fits),
		cmocka_unit_test(the_beginning_of_an_answer_is_kept),
		cmocka_unit_test(who_does_not_answer_is_named_with_a_reason),
		cmocka_unit_test(path_token_and_program_are_sent),
		cmocka_unit_test(who_is_no_web_socket_is_told_apart),
		cmocka_unit_test(what_nobody_reads_is_given_up),
		cmocka_unit_test(a_socket_is_asked_by_its_path),
		cmocka_unit_test(the_environment_is_read_by_two_names),
		cmocka_unit_test(urls_are_of_three_kinds),
		cmocka_unit_test(a_socket_path_that_is_none_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
