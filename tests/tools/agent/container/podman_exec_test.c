// Commands inside containers of a real podman, asked for as Nomad's clients do.
#include "state/base/base64.h"
#include "state/base/time_source.h"
#include "tests/tools/agent/container/podman_stage.h"
#include "tests/tools/agent/service/exec_agent.h"
#include "tests/tools/agent/service/exec_call.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77
#define CLOSE_INPUT "{\"stdin\":{\"close\":true}}"

static struct alloc_run *container;
static struct exec_client client;

static int open_service(void **unused)
{
	char message[200] = "";
	struct agent_service_settings settings = {.time = &time_source_real};
	podman_open(NULL);
	settings.data_folder = stage_folder;
	settings.ask = mailbox = ask_runner_create();
	int error = agent_service_start(&settings, &service, message, sizeof message);
	assert_string_equal(message, "");
	container = podman_run("service",
		"\"User\":\"worker\",\"Env\":{\"GREETING\":\"hi\"},\"KillTimeout\":1000000000,",
		SHELL("echo up; exec sleep 1000") ",\"work_dir\":\"/tmp\"");
	podman_pass_until(podman_has_written);
	return error;
}

static int close_service(void **unused)
{
	exec_client_close(&client);
	ask_runner_close(mailbox);
	agent_service_stop(service);
	ask_runner_destroy(mailbox);
	podman_end(container);
	return podman_close(NULL);
}

// A shell's line.
static void begin_command(bool has_terminal, const char *line)
{
	char query[2000], command[1000], alloc[UUID_TEXT_BYTES];
	snprintf(command, sizeof command, "[\"/bin/sh\",\"-c\",\"%s\"]", line);
	exec_call_query("a", command, has_terminal ? "&tty=true" : "&tty=false", query);
	exec_call_begin(&client, uuid_format(&podman_id, alloc), query);
}

static void expect_heard(const char *wanted)
{
	char text[4000];
	exec_client_hear_all(&client, text, sizeof text);
	assert_string_equal(text, wanted);
	exec_client_close(&client);
}

// Hears so much, in as many frames as it comes.
static void expect_output(const char *wanted)
{
	char text[100] = "";
	size_t at = 0, size;
	while (at < strlen(wanted)) {
		const json_t *data = json_object_get(
			json_object_get(exec_client_hear(&client, 20000), "stdout"), "data");
		assert_non_null(data);
		assert_true(json_string_length(data) < sizeof text - at);
		assert_true(base64_decode(json_string_value(data), json_string_length(data),
			(uint8_t *)text + at, &size));
		at += size;
	}
	text[at] = '\0';
	assert_string_equal(text, wanted);
}

static void make_go(void)
{
	char path[200], alloc[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%s/alloc/%s/alloc/go", stage_folder,
		uuid_format(&podman_id, alloc));
	assert_int_equal(mkdir(path, 0755), 0);
}

static void streams_and_the_exit_code(void **unused)
{
	begin_command(
		false, "cat; until test -e /alloc/go; do sleep 0.1; done; echo err >&2; exit 7");
	exec_client_say(&client, "{\"stdin\":{\"data\":\"YWJjCg==\"}}");
	exec_client_say(&client, "{\"stdin\":{\"data\":\"ZGVmCg==\",\"close\":true}}");
	expect_output("abc\ndef\n"); // one stream after the other
	make_go();
	expect_heard("err\n<stdout><stderr><7>");
	begin_command(false, "exit 0");
	exec_client_say(&client, CLOSE_INPUT);
	expect_heard("<stdout><stderr><0>");
	begin_command(false, "kill -9 $$");
	exec_client_say(&client, CLOSE_INPUT);
	expect_heard("<stdout><stderr><137>");
}

static void it_is_where_the_container_is(void **unused)
{
	begin_command(false, "echo $(id -u) $GREETING $PWD; tr '\\\\0' ' ' </proc/1/cmdline");
	exec_client_say(&client, CLOSE_INPUT);
	expect_heard("1234 hi /tmp\nsleep 1000 <stdout><stderr><0>");
}

static void standard_error_is_told_apart(void **unused)
{
	const json_t *heard;
	bool is_told = false;
	begin_command(false, "echo err >&2");
	exec_client_say(&client, CLOSE_INPUT);
	while ((heard = exec_client_hear(&client, 20000)) != NULL) {
		assert_null(json_object_get(json_object_get(heard, "stdout"), "data"));
		is_told |= json_object_get(json_object_get(heard, "stderr"), "data") != NULL;
	}
	assert_true(is_told);
}

static void a_terminal_has_a_size_there(void **unused)
{
	begin_command(true,
		"stty -echo; until [ \\\"$(stty size 2>&1)\\\" = '33 101' ]; do sleep 0.1; "
		"done; echo sized; read line; echo got $line; exit 5");
	exec_client_say(&client, "{\"tty_size\":{\"height\":33,\"width\":101}}");
	expect_output("sized\r\n"); // it does not echo any more
	exec_client_say(&client, "{\"stdin\":{\"data\":\"YWJjCg==\"}}");
	expect_heard("got abc\r\n<stdout><5>");
}

static void what_cannot_be_run(void **unused)
{
	char text[4000], query[2000], alloc[UUID_TEXT_BYTES];
	exec_call_query("a", "[\"/no/such\"]", "&tty=false", query);
	exec_call_begin(&client, uuid_format(&podman_id, alloc), query);
	exec_client_say(&client, CLOSE_INPUT);
	exec_client_hear_all(&client, text, sizeof text);
	assert_non_null(strstr(text, "/no/such"));
	assert_non_null(strstr(text, "<12"));
}

// The words are not those of the process that looks for it.
static void await_no_sleeper(void)
{
	begin_command(false, "for i in $(seq 60); do "
			     "case $(cat /proc/[0-9]*/cmdline | tr '\\\\0' ' ') in "
			     "*'sleep 43''21'*) sleep 0.5;; *) exit 9;; esac; done");
	exec_client_say(&client, CLOSE_INPUT);
	expect_heard("<stdout><stderr><9>");
}

static void a_client_that_leaves_ends_it(void **unused)
{
	for (int has_terminal = 0; has_terminal < 2; has_terminal++) {
		begin_command(has_terminal, "echo up; sleep 43''21");
		assert_non_null(exec_client_hear(&client, 20000));
		exec_client_close(&client);
		await_no_sleeper();
	}
}

static void a_command_ends_with_its_container(void **unused)
{
	begin_command(false, "echo up; exec sleep 1000");
	assert_non_null(exec_client_hear(&client, 20000));
	exec_client_say(&client, CLOSE_INPUT);
	runner_stop(&runner, container);
	podman_pass_until(podman_has_ended);
	expect_heard("<stdout><stderr><137>");
}

static size_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#define MANY (24u << 20)

// All of it comes, but not before somebody takes it.
static void a_client_that_does_not_read_holds_it_up(void **unused)
{
	const json_t *heard;
	size_t count = 0;
	size_t before = resident_bytes();
	begin_command(false, "head -c 25165824 /dev/zero; echo done >/alloc/done");
	exec_client_say(&client, CLOSE_INPUT);
	web_socket_turn(client.socket, POLLOUT);
	poll(NULL, 0, 2000);
	assert_string_equal(stage_content(&podman_id, "alloc/done"), "");
	assert_in_range(resident_bytes(), 0, before + (8u << 20));
	while ((heard = exec_client_hear(&client, 20000)) != NULL) {
		const json_t *data = json_object_get(json_object_get(heard, "stdout"), "data");
		count += json_string_length(data) / 4 * 3;
		count -= data && json_string_value(data)[json_string_length(data) - 1] == '=';
		count -= data && json_string_value(data)[json_string_length(data) - 2] == '=';
	}
	assert_int_equal(count, MANY);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_service, close_service)
	const struct CMUnitTest tests[] = {
		TEST(streams_and_the_exit_code),
		TEST(it_is_where_the_container_is),
		TEST(standard_error_is_told_apart),
		TEST(a_terminal_has_a_size_there),
		TEST(what_cannot_be_run),
		TEST(a_client_that_leaves_ends_it),
		TEST(a_command_ends_with_its_container),
		TEST(a_client_that_does_not_read_holds_it_up),
	};
	if (geteuid() != 0) // the service needs a mount namespace
		return SKIPPED;
	return cmocka_run_group_tests(tests, podman_begin, podman_end_all);
}
