// Commands in containers of an engine that answers what it is told to, good and bad, cut anywhere.
#include "tests/tools/agent/exec/exec_client.h"
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/exec/exec_container.h"
#include "tools/agent/exec/exec_frame.h"
#include "tools/agent/exec/exec_session.h"
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define JSON ENGINE_JSON
#define CREATED JSON("201 Created", "{\"Id\":\"e1\"}")
#define UPGRADED "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
#define ENDED JSON("200 OK", "{\"Running\":false,\"ExitCode\":3,\"Pid\":0}")
#define RUNNING JSON("200 OK", "{\"Running\":true,\"ExitCode\":null,\"Pid\":0}")
#define THERE JSON("200 OK", "{\"State\":{\"Running\":true,\"Pid\":0}}")
#define GONE JSON("404 Not Found", "{\"message\":\"no such container\"}")
#define OUT "\1\0\0\0\0\0\0\2hi\2\0\0\0\0\0\0\2no"

// What the engine answers. start is of a size, as it holds what is no text.
struct answers {
	const char *create, *start;
	size_t start_size, step; // it says so many bytes at once; 0: all
	const char *look, *container;
	bool holds_start; // until somebody ends it
};

static char folder[] = "/tmp/berth-engine-XXXXXX", socket_path[64];
static int stop_fd;
static struct engine_answer told[5];
static struct exec_client client;
static int session_fd;
static struct exec_command session_command;

static void start_engine(const struct answers *a)
{
	told[0] =
		(struct engine_answer){"/start ", a->start, a->start_size, a->step, a->holds_start};
	told[1] = (struct engine_answer){.asked = "POST /containers/", .says = a->create};
	told[2] = (struct engine_answer){.asked = "GET /exec/", .says = a->look};
	told[3] =
		(struct engine_answer){.asked = "/resize?", .says = ENGINE_JSON("201 Created", "")};
	told[4] = (struct engine_answer){.asked = "", .says = a->container};
	scripted_engine_start(socket_path, told);
}

static int open_folder(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/sock", folder);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	return stop_fd < 0;
}

static int close_folder(void **unused)
{
	close(stop_fd);
	return rmdir(folder);
}

static int start_command(bool has_terminal, char *message, size_t size)
{
	struct exec_container_start start = {.socket = socket_path,
		.name = "c",
		.arguments = (char *[]){(char[]){"true"}, NULL},
		.has_input = true,
		.has_terminal = has_terminal,
		.timeout_ms = 20000,
		.stop_fd = stop_fd};
	*message = '\0';
	return exec_container_start(&start, &session_command, message, (uint32_t)size);
}

static void *run_session(void *unused)
{
	struct web_socket_stream stream = web_socket_stream_of(&session_fd);
	struct web_socket *server =
		web_socket_open(&stream, false, EXEC_MESSAGE_BYTES_MAX, NULL, 0);
	exec_session_run(server, &stream, &session_command, stop_fd);
	exec_command_finish(&session_command);
	web_socket_free(server);
	close(session_fd);
	return NULL;
}

// What a client hears of it whose input is over.
static void expect_session(const struct answers *given, bool has_terminal, const char *wanted)
{
	char text[4096], message[300];
	int fds[2];
	pthread_t thread;
	start_engine(given);
	assert_int_equal(start_command(has_terminal, message, sizeof message), 0);
	assert_string_equal(message, "");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	session_fd = fds[1];
	exec_client_open(&client, fds[0], NULL, 0);
	assert_int_equal(pthread_create(&thread, NULL, run_session, NULL), 0);
	exec_client_say(&client, "{\"stdin\":{\"close\":true}}");
	exec_client_hear_all(&client, text, sizeof text);
	assert_string_equal(text, wanted);
	pthread_join(thread, NULL);
	exec_client_close(&client);
	scripted_engine_stop();
}

#define STARTED(text) .create = CREATED, .start = text, .start_size = sizeof(text) - 1
#define ENDING(text) STARTED(text), .look = ENDED, .container = THERE

static void output_may_be_cut_anywhere(void **unused)
{
	for (size_t step = 0; step < sizeof UPGRADED OUT; step += 7) {
		struct answers a = {ENDING(UPGRADED OUT), .step = step};
		expect_session(&a, false, "hino<stdout><stderr><3>");
	}
	expect_session(&(struct answers){ENDING(UPGRADED OUT), .step = 1}, false,
		"hino<stdout><stderr><3>");
	expect_session(&(struct answers){ENDING("HTTP/1.0 200 OK\r\n\r\n" OUT)}, false,
		"hino<stdout><stderr><3>");
	// The last frame lacks its end.
	expect_session(&(struct answers){ENDING(UPGRADED "\1\0\0\0\0\0\0\7hi")}, false,
		"hi<stdout><stderr><3>");
	expect_session(&(struct answers){ENDING(UPGRADED)}, false, "<stdout><stderr><3>");
	expect_session(&(struct answers){ENDING(UPGRADED "raw")}, true, "raw<stdout><3>");
}

// Its process is asked for until the engine tells it.
static void what_is_no_output_ends_it(void **unused)
{
	static const char look[] = "GET /exec/e1/json HTTP/1.1\n";
	struct answers a = {ENDING(UPGRADED "\1\0\0\0\0\0\0\2hi\3\0\0\0\0\0\0\2no")};
	expect_session(&a, false, "hi<1011 the engine sends what is no output of a command>");
	const char *first = strstr(scripted_engine_requests(), look);
	assert_non_null(first);
	assert_null(strstr(first + 1, look));
	a.look = RUNNING;
	expect_session(&a, false, "hi<1011 the engine sends what is no output of a command>");
	first = strstr(scripted_engine_requests(), look);
	assert_non_null(first);
	assert_non_null(strstr(first + 1, look));
}

static void an_end_that_is_not_told(void **unused)
{
	struct answers a = {STARTED(UPGRADED OUT), .look = GONE, .container = GONE};
	expect_session(&a, false, "hino<stdout><stderr><137>");
	a.look = JSON("500 Internal Server Error", "{\"message\":\"bad day\"}");
	a.container = THERE;
	expect_session(&a, false, "hino<1011 bad day>");
}

static void what_cannot_start_says_why_not(void **unused)
{
	static char endless[9000];
	static const struct {
		struct answers answers;
		const char *message;
	} rows[] = {
		{{.create = GONE}, "no such container"},
		{{.create = JSON("409 Conflict", "{\"message\":\"c is not running\"}")},
			"c is not running"},
		{{.create = JSON("201 Created", "{}")}, "the engine names no command"},
		{{.create = JSON("500 Oh", "what")}, "HTTP status 500 what\n"},
		{{STARTED("HTTP/1.1 409 Conflict\r\ncontent-length: "
			  "22\r\n\r\n{\"message\":\"too late\"}")},
			"too late"},
		{{STARTED("HTTP/1.1 500 Oh\r\nContent-Length: 99\r\n\r\nwhat")},
			"HTTP status 500 what"},
		{{STARTED("HTTP/1.1 204 No Content\r\n\r\n")},
			"HTTP status 204, and no connection"},
		{{STARTED("SSH-2.0\r\n\r\n"), .look = ENDED, .container = THERE},
			"does not answer: what it says is no HTTP"},
		{{STARTED("HTTP/1.1 1"), .look = ENDED, .container = THERE},
			"does not answer: it closes the connection"},
		{{STARTED("HTTP/1.1 200 \0\r\n\r\n"), .look = ENDED, .container = THERE},
			"does not answer: what it says is no HTTP"},
		{{.create = CREATED,
			 .start = endless,
			 .start_size = sizeof endless,
			 .look = ENDED,
			 .container = THERE},
			"does not answer: the head of its answer does not end"},
	};
	memset(endless, 'x', sizeof endless);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char message[300];
		start_engine(&rows[i].answers);
		assert_int_not_equal(start_command(false, message, sizeof message), 0);
		if (!strstr(message, rows[i].message))
			fail_msg("row %zu: %s", i, message);
		scripted_engine_stop();
	}
	char message[300];
	assert_int_not_equal(start_command(false, message, sizeof message), 0);
	assert_non_null(strstr(message, "does not answer: "));
}

// The engine has taken the request, and says nothing.
static void an_engine_that_is_silent_is_not_waited_for(void **unused)
{
	struct answers a = {ENDING("HTTP/1.1 101"), .holds_start = true};
	uint64_t one = 1;
	char message[300];
	start_engine(&a);
	assert_int_equal(write(stop_fd, &one, sizeof one), sizeof one);
	assert_int_not_equal(start_command(false, message, sizeof message), 0);
	assert_non_null(strstr(message, "it was not waited for"));
	assert_int_equal(read(stop_fd, &one, sizeof one), sizeof one);
	scripted_engine_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_may_be_cut_anywhere),
		cmocka_unit_test(what_is_no_output_ends_it),
		cmocka_unit_test(an_end_that_is_not_told),
		cmocka_unit_test(what_cannot_start_says_why_not),
		cmocka_unit_test(an_engine_that_is_silent_is_not_waited_for),
	};
	return cmocka_run_group_tests(tests, open_folder, close_folder);
}
