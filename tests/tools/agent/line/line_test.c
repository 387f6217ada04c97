// The agent's end of the line against a controller that answers too much, not at all, or not now.
#include "tests/support/listening.h"
#include "tests/support/log_capture.h"
#include "tests/tools/agent/line/line_controller.h"
#include "tools/agent/line/line.h"
#include "tools/agent/line/line_ask.h"
#include "tools/tls/psk.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct line *line;
static uint16_t port;
static struct line_answer answer;
static char message[300];
static atomic_bool is_serving;

static void answer_too_much(gnutls_session_t tls)
{
	static char much[16384];
	ssize_t sent = gnutls_record_recv(tls, much, sizeof much);
	while (sent > 0)
		sent = gnutls_record_send(tls, much, sizeof much);
}

// Who is asked over the connection of the other kind finds it over.
static void answer_well(gnutls_session_t tls)
{
	static const char well[] = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
	char text[500];
	if (psk_session_kind(tls) == LINE_NODE_ASKS &&
		gnutls_record_recv(tls, text, sizeof text) > 0)
		(void)gnutls_record_send(tls, well, sizeof well - 1);
}

static void open_line(int (*serve)(void *, int))
{
	struct line_settings settings = {
		.node = {{7}}, .key = line_controller_key, .key_id = 7, .serve = serve};
	line = line_open(&settings);
	assert_non_null(line);
}

static void follow_controller(void)
{
	line_follow(line, "127.0.0.1");
	line_heard(line, port);
}

static int ask_line(uint32_t timeout_ms)
{
	struct line_question question = {.method = "GET",
		.target = "/v1/var/x",
		.task = "t",
		.timeout_ms = timeout_ms,
		.stop_fd = -1};
	line_answer_free(&answer);
	message[0] = '\0';
	return line_ask(line, &question, &answer, message, sizeof message);
}

static void nobody_is_asked_whom_nobody_knows(void **unused)
{
	open_line(NULL);
	assert_int_equal(ask_line(0), -ENOTCONN);
	assert_non_null(strstr(message, "the controller is not known"));
	line_close(line);
}

static void an_answer_without_end_is_refused(void **unused)
{
	port = line_controller_open(answer_too_much);
	open_line(NULL);
	follow_controller();
	assert_int_equal(ask_line(0), -EMSGSIZE);
	assert_string_equal(message, "asking the controller: the answer is too long");
	line_close(line);
	line_controller_close();
}

// There is room for one connection that nobody takes, and the next one is not made.
static void who_takes_no_connection_is_waited_for_so_long(void **unused)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	port = 0;
	int listener = listen_on_loopback(&port, 0);
	at.sin_port = htons(port);
	assert_int_equal(connect(first, (struct sockaddr *)&at, sizeof at), 0);
	open_line(NULL);
	follow_controller();
	assert_int_equal(ask_line(30), -ETIMEDOUT);
	assert_non_null(strstr(message, "cannot connect to 127.0.0.1:"));
	line_close(line);
	close(first);
	close(listener);
}

static struct line_counts counts_of_line(void)
{
	struct line_counts counts;
	line_count(line, &counts);
	return counts;
}

static int serve_nobody(void *context, int fd)
{
	close(fd);
	return -EMFILE;
}

static void a_service_that_takes_nobody_is_told_of(void **unused)
{
	static struct log_capture log;
	struct line_call call = {.generation = 1, .term = 1};
	call.port = port = line_controller_open(answer_well);
	open_line(serve_nobody);
	follow_controller();
	log_capture_begin(&log);
	line_called(line, &call);
	while (counts_of_line().dialled == 0 || counts_of_line().served > 0)
		poll(NULL, 0, 1);
	line_close(line);
	log_capture_end(&log);
	assert_int_equal(log_capture_count(&log, "line-not-served", "Too many open files"), 1);
	line_controller_close();
}

static void say_nothing(gnutls_session_t tls)
{
	char text[50];
	(void)gnutls_record_recv(tls, text, sizeof text);
}

static int keep_connection(void *context, int fd)
{
	*(_Atomic int *)context = fd;
	return 0;
}

static void what_is_served_ends_with_the_line(void **unused)
{
	_Atomic int fd = -1;
	struct line_call call = {.generation = 1, .term = 1};
	struct line_settings settings = {.node = {{7}},
		.key = line_controller_key,
		.key_id = 7,
		.serve = keep_connection,
		.context = &fd};
	call.port = port = line_controller_open(say_nothing);
	line = line_open(&settings);
	assert_non_null(line);
	follow_controller();
	line_called(line, &call);
	while (fd < 0)
		poll(NULL, 0, 1);
	line_close(line);
	assert_int_equal(read(fd, &(char){0}, 1), 0);
	close(fd);
	line_controller_close();
}

// It is served, and asks, for as long as the line is open.
static int ask_to_the_end(void *context, int fd)
{
	int *error = context;
	atomic_store(&is_serving, true);
	do
		*error = ask_line(0);
	while (!strstr(message, "the agent ends"));
	close(fd);
	return 0;
}

static void who_asks_is_told_that_the_agent_ends(void **unused)
{
	int error = 0;
	struct line_call call = {.generation = 1, .term = 1};
	struct line_settings settings = {.node = {{7}},
		.key = line_controller_key,
		.key_id = 7,
		.serve = ask_to_the_end,
		.context = &error};
	call.port = port = line_controller_open(answer_well);
	line = line_open(&settings);
	assert_non_null(line);
	follow_controller();
	line_called(line, &call);
	while (!atomic_load(&is_serving))
		poll(NULL, 0, 1);
	line_close(line);
	assert_int_equal(error, -ECANCELED);
	line_controller_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_asked_whom_nobody_knows),
		cmocka_unit_test(an_answer_without_end_is_refused),
		cmocka_unit_test(who_takes_no_connection_is_waited_for_so_long),
		cmocka_unit_test(a_service_that_takes_nobody_is_told_of),
		cmocka_unit_test(what_is_served_ends_with_the_line),
		cmocka_unit_test(who_asks_is_told_that_the_agent_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
