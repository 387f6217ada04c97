// Whole talks with real commands: those that were recorded, a client that reads slowly, and clients that leave.
#include "state/base/base64.h"
#include "tests/tools/agent/exec/exec_client.h"
#include "tests/tools/agent/exec/exec_stage.h"
#include "tools/agent/exec/exec_frame.h"
#include "tools/agent/exec/exec_session.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct exec_stage stage;
static int server_fd, stop[2];
static struct exec_client client;
static struct exec_command command;
static pthread_t thread;
static int exit_code;
static bool has_handshake;
static size_t most_waiting; // of bytes in the server's hands

static void *serve(void *unused)
{
	struct web_socket_stream stream = web_socket_stream_of(&server_fd);
	struct web_socket *server =
		web_socket_open(&stream, false, EXEC_MESSAGE_BYTES_MAX, NULL, 0);
	exit_code = -1;
	if (!has_handshake || exec_session_greet(server, &stream, stop[0]))
		exit_code = exec_session_run(server, &stream, &command, stop[0]);
	most_waiting = web_socket_waiting(server);
	exec_command_finish(&command);
	web_socket_free(server);
	close(server_fd);
	return NULL;
}

static int open_stage(void **unused)
{
	stage_open(&stage, NULL, "");
	return pipe(stop);
}

// Commands of this test wait for a file of their folder.
static void name_go(char path[static 80])
{
	snprintf(path, 80, "%s/go", stage.folder);
}

static int close_stage(void **unused)
{
	char path[80];
	name_go(path);
	(void)unlink(path);
	stage_close(&stage);
	close(stop[0]);
	close(stop[1]);
	return 0;
}

static void begin(bool has_terminal, const char *line)
{
	char copy[500];
	int fds[2];
	snprintf(copy, sizeof copy, "%s", line);
	stage_start(&stage, &command, has_terminal,
		(char *const[]){(char[]){"sh"}, (char[]){"-c"}, copy, NULL});
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	server_fd = fds[1];
	exec_client_open(&client, fds[0], NULL, 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

// Waits until the session is over; returns what it says of the command.
static int end(void)
{
	pthread_join(thread, NULL);
	exec_client_close(&client);
	return exit_code;
}

#define CLOSE_INPUT "{\"stdin\":{\"close\":true}}"
#define HANDSHAKE "{\"version\":1,\"auth_token\":\"\"}"

static void expect_said(const char *wanted)
{
	char text[4096];
	exec_client_hear_all(&client, text, sizeof text);
	assert_string_equal(text, wanted);
}

static void expect_heard_first(const char *output)
{
	assert_string_equal(
		json_string_value(json_object_get(
			json_object_get(exec_client_hear(&client, 20000), "stdout"), "data")),
		output);
}

static void let_go(void)
{
	char path[80];
	name_go(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static void recorded_talks(void **unused)
{
	has_handshake = true;
	begin(false, "echo hi");
	exec_client_say(&client, HANDSHAKE);
	exec_client_say(&client, CLOSE_INPUT);
	expect_said("hi\n<stdout><stderr><0>");
	assert_int_equal(end(), 0);

	begin(false, "echo out; until test -e go; do sleep 0.01; done; echo err >&2; exit 7");
	exec_client_say(&client, HANDSHAKE);
	exec_client_say(&client, CLOSE_INPUT);
	expect_heard_first("b3V0Cg=="); // "out\n"
	let_go();
	expect_said("err\n<stdout><stderr><7>");
	assert_int_equal(end(), 7);

	begin(false, "kill -9 $$");
	exec_client_say(&client, HANDSHAKE);
	exec_client_say(&client, CLOSE_INPUT);
	expect_said("<stdout><stderr><137>");
	assert_int_equal(end(), 137);

	begin(false, "cat");
	exec_client_say(&client, HANDSHAKE);
	exec_client_say(&client, "{\"foo\":1}");
	exec_client_say(&client, "{}");
	exec_client_say(&client, "not json");
	web_socket_send(
		client.socket, WEB_SOCKET_BINARY, "{\"stdin\":{\"data\":\"YWJjCg==\"}}", 30 - 1);
	exec_client_say(&client, "{\"stdin\":{\"data\":\"ZGVmCg==\",\"close\":true}}");
	exec_client_say(&client, "{\"stdin\":{\"data\":\"ZGVmCg==\"}}"); // behind the end
	expect_said("abc\ndef\n<stdout><stderr><0>");
	assert_int_equal(end(), 0);
	has_handshake = false;
}

// Nothing is said of the end before.
static void the_end_waits_for_the_inputs(void **unused)
{
	begin(false, "echo out; exit 7");
	expect_heard_first("b3V0Cg==");
	assert_null(exec_client_hear(&client, 300));
	assert_false(web_socket_is_over(client.socket));
	exec_client_say(&client, CLOSE_INPUT);
	expect_said("<stdout><stderr><7>");
	assert_int_equal(end(), 7);
}

static void a_terminal(void **unused)
{
	begin(true, "read line; stty size; read line; stty size; exit 3");
	exec_client_say(&client, "{\"tty_size\":{\"height\":24,\"width\":80}}");
	exec_client_say(&client, "{\"stdin\":{\"data\":\"Cg==\"}}");
	exec_client_say(&client, "{\"tty_size\":{\"height\":50,\"width\":132}}");
	// The size is there before the next line is.
	exec_client_say(&client, "{\"stdin\":{\"data\":\"Cg==\"}}");
	char text[4096];
	exec_client_hear_all(&client, text, sizeof text);
	assert_non_null(strstr(text, "50 132\r\n<stdout><3>"));
	assert_int_equal(end(), 3);

	begin(true, "cat; echo over");
	exec_client_say(
		&client, "{\"stdin\":{\"data\":\"YWI=\",\"close\":true}}"); // "ab", and no line
	exec_client_hear_all(&client, text, sizeof text);
	assert_non_null(strstr(text, "over\r\n<stdout><0>"));
	assert_int_equal(end(), 0);
}

static void a_wrong_handshake(void **unused)
{
	static const char *const rows[][2] = {{CLOSE_INPUT, "<1008 unexpected handshake value: 0>"},
		{"{\"version\":2,\"auth_token\":\"\"}", "<1008 unexpected handshake value: 2>"},
		{"not json", "<1008 unexpected handshake value: 0>"}};
	has_handshake = true;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(false, "sleep 1000");
		exec_client_say(&client, rows[i][0]);
		expect_said(rows[i][1]);
		assert_int_equal(end(), -1);
	}
	has_handshake = false;
}

// The command is held up by a client that does not read, and everything arrives when it does.
static void much_output_and_a_slow_reader(void **unused)
{
	enum { LINES = 400000 };
	begin(false, "seq 400000; echo done >&2");
	exec_client_say(&client, CLOSE_INPUT);
	poll(NULL, 0, 200);
	assert_int_equal(stage_is_alive(command.keeper), true);
	char *text = malloc(8u << 20), *at = text;
	exec_client_hear_all(&client, text, 8u << 20);
	// The two outputs come in any order.
	char *done = strstr(text, "done\n");
	assert_non_null(done);
	memmove(done, done + 5, strlen(done + 5) + 1);
	for (long i = 1; i <= LINES; i++)
		assert_int_equal(strtol(at, &at, 10), i);
	assert_string_equal(at, "\n<stdout><stderr><0>");
	free(text);
	assert_int_equal(end(), 0);
	assert_int_equal(most_waiting, 0);
}

// What the client sends and the command does not read stays with the client.
static void much_input_and_a_slow_command(void **unused)
{
	enum { MESSAGES = 400, BYTES = 3000 };
	uint8_t bytes[BYTES];
	char frame[BASE64_ENCODED(BYTES) + 64];
	memset(bytes, 'x', sizeof bytes);
	int head = snprintf(frame, sizeof frame, "{\"stdin\":{\"data\":\"");
	base64_write(frame + head, bytes, sizeof bytes);
	snprintf(frame + head + BASE64_ENCODED(BYTES), 8, "\"}}");
	begin(false, "until test -e go; do sleep 0.01; done; read go; wc -c");
	exec_client_say(&client, "{\"stdin\":{\"data\":\"Z28K\"}}");
	for (int i = 0; i < MESSAGES; i++)
		exec_client_say(&client, frame);
	assert_true(web_socket_waiting(client.socket) > 100000);
	let_go();
	exec_client_say(&client, CLOSE_INPUT);
	expect_said("1200000\n<stdout><stderr><0>");
	assert_int_equal(end(), 0);
}

// A command that closes its input does not end the talk.
static void input_that_nobody_wants(void **unused)
{
	begin(false, "exec <&-; until test -e go; do sleep 0.01; done; echo still here");
	for (int i = 0; i < 50; i++)
		exec_client_say(&client, "{\"stdin\":{\"data\":\"YWJjCg==\"}}");
	let_go();
	exec_client_say(&client, CLOSE_INPUT);
	expect_said("still here\n<stdout><stderr><0>");
	assert_int_equal(end(), 0);
}

static pid_t begin_sleeper(bool has_terminal)
{
	char text[64] = "";
	size_t size;
	begin(has_terminal, "echo $$; sleep 1000; true");
	const json_t *data = json_object_get(
		json_object_get(exec_client_hear(&client, 20000), "stdout"), "data");
	assert_true(json_string_length(data) < sizeof text);
	assert_true(base64_decode(
		json_string_value(data), json_string_length(data), (uint8_t *)text, &size));
	pid_t pid = (pid_t)strtol(text, NULL, 10);
	assert_true(stage_is_alive(pid));
	return pid;
}

static void who_leaves_takes_the_command_along(void **unused)
{
	for (int has_terminal = 0; has_terminal < 2; has_terminal++) {
		const char *reason;
		pid_t pid = begin_sleeper(has_terminal);
		web_socket_close(client.socket, WEB_SOCKET_NORMAL, "");
		assert_null(exec_client_hear(&client, 20000));
		assert_int_equal(web_socket_closed_with(client.socket, &reason), WEB_SOCKET_NORMAL);
		assert_int_equal(end(), -1);
		assert_false(stage_is_alive(pid));

		pid = begin_sleeper(has_terminal); // without a word
		exec_client_leave(&client);
		assert_int_equal(end(), -1);
		assert_false(stage_is_alive(pid));
	}
}

// Also while the command takes no input, so that nothing is read of the client.
static void who_leaves_a_busy_command(void **unused)
{
	char large[100000];
	pid_t pid = begin_sleeper(false);
	memset(large, 'A', sizeof large);
	memcpy(large, "{\"stdin\":{\"data\":\"", 18);
	size_t data = sizeof large - 18 - 4;
	memmove(large + 18 + data / 4 * 4, "\"}}", 4);
	for (int i = 0; i < 4; i++)
		exec_client_say(&client, large);
	poll(NULL, 0, 50);
	web_socket_turn(client.socket, POLLOUT);
	exec_client_leave(&client);
	assert_int_equal(end(), -1);
	assert_false(stage_is_alive(pid));
}

static void an_agent_that_stops(void **unused)
{
	pid_t pid = begin_sleeper(true);
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_int_equal(end(), -1);
	assert_false(stage_is_alive(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recorded_talks, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(
			the_end_waits_for_the_inputs, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(a_terminal, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(a_wrong_handshake, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(
			much_output_and_a_slow_reader, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(
			much_input_and_a_slow_command, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(input_that_nobody_wants, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(
			who_leaves_takes_the_command_along, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(who_leaves_a_busy_command, open_stage, close_stage),
		cmocka_unit_test_setup_teardown(an_agent_that_stops, open_stage, close_stage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
