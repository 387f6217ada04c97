// Commands inside tasks, asked for as Nomad's clients do: what was recorded of the real thing is answered here, by real
// processes.
#include "tests/tools/agent/exec/exec_client.h"
#include "tests/tools/agent/service/exec_agent.h"
#include "tests/tools/agent/service/exec_call.h"
#include <poll.h>
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

#define ALLOC EXEC_AGENT_ALLOC
#define NOBODY "12345678-1234-1234-1234-123456789abc"
#define HANDSHAKE "{\"version\":1,\"auth_token\":\"\"}"
#define CLOSE_INPUT "{\"stdin\":{\"close\":true}}"

static char *const text = exec_call_text;

static int open_willing(void **unused)
{
	return exec_agent_open(NULL, false);
}

static int open_unwilling(void **unused)
{
	return exec_agent_open(NULL, true);
}

static int close_agent(void **unused)
{
	return exec_agent_close();
}

struct talk {
	const char *task, *command, *more; // of the query
	const char *says[4];               // the client
	const char *hears;
};

static void expect_talk(const char *alloc, const struct talk *t)
{
	struct exec_client c;
	char query[2000];
	exec_call_query(t->task, t->command, t->more, query);
	exec_call_begin(&c, alloc, query);
	for (int i = 0; i < 4 && t->says[i]; i++)
		exec_client_say(&c, t->says[i]);
	exec_client_hear_all(&c, text, EXEC_CALL_BYTES);
	assert_string_equal(text, t->hears);
	exec_client_close(&c);
}

#define GREETED "&tty=false&ws_handshake=true"

static void what_was_recorded(void **unused)
{
	static const struct talk talks[] = {
		{"main", "[\"echo\", \"hi\"]", GREETED, {HANDSHAKE, CLOSE_INPUT},
			"hi\n<stdout><stderr><0>"},
		{"main", "[\"echo\", \"hi\"]", "&tty=false", {CLOSE_INPUT},
			"hi\n<stdout><stderr><0>"},
		{"main", "[\"cat\"]", GREETED,
			{HANDSHAKE, "{\"stdin\":{\"data\":\"YWJjCg==\"}}", "{}", CLOSE_INPUT},
			"abc\n<stdout><stderr><0>"},
		{"main", "[\"/bin/sh\",\"-c\",\"exit 7\"]", GREETED, {HANDSHAKE, CLOSE_INPUT},
			"<stdout><stderr><7>"},
		{"main", "[\"/bin/sh\",\"-c\",\"kill -9 $$\"]", GREETED, {HANDSHAKE, CLOSE_INPUT},
			"<stdout><stderr><137>"},
		{"main", "[\"/bin/sh\",\"-c\",\"stty size; exit 0\"]",
			"&tty=true&ws_handshake=true", {HANDSHAKE}, "0 0\r\n<stdout><0>"},
		{"main", "[\"/no/such/bin\"]", GREETED, {HANDSHAKE},
			"<1011 rpc error: code = Unknown desc = failed to start command: fork/exec "
			"/no/such/bin: no such file or directory>"},
		{"pre", "[\"echo\",\"hi\"]", GREETED, {HANDSHAKE},
			"<1008 task \"pre\" is not running.>"},
		{"nosuch", "[\"echo\"]", GREETED, {HANDSHAKE}, "<1011 task not found>"},
		{"", "[\"echo\"]", GREETED, {HANDSHAKE}, "<1008 must provide task name>"},
		{"main", "[]", GREETED, {HANDSHAKE}, "<1008 command is not present>"},
		{"main", "[\"echo\"]", GREETED, {CLOSE_INPUT},
			"<1008 unexpected handshake value: 0>"},
		{"main", "[\"echo\"]", GREETED, {"{\"version\":2,\"auth_token\":\"\"}"},
			"<1008 unexpected handshake value: 2>"},
		{"main", "[\"echo\"]", "&ws_handshake=zz", {HANDSHAKE},
			"<1008 ws_handshake value is not a boolean: strconv.ParseBool: parsing "
			"\"zz\": "
			"invalid syntax>"},
		{"pretended", "[\"echo\"]", GREETED, {HANDSHAKE},
			"<1011 the driver \"mock\" runs no commands inside its tasks>"},
	};
	for (size_t i = 0; i < sizeof talks / sizeof talks[0]; i++)
		expect_talk(ALLOC, &talks[i]);
	expect_talk(NOBODY, &(struct talk){"main", "[\"echo\"]", GREETED, {HANDSHAKE},
				    "<1008 Unknown allocation \"" NOBODY "\">"});
	expect_talk("zz",
		&(struct talk){"main", "[\"echo\"]", GREETED, {HANDSHAKE},
			"<1011 alloc lookup failed: index error: UUID must be 36 characters>"});
}

// The bytes after the answer's head, as recorded; the two streams are closed in this order.
static void the_bytes_on_the_wire(void **unused)
{
	static const char wanted[] =
		"\x81\x1a{\"stdout\":{\"data\":\"aGkK\"}}\x81\x19{\"stdout\":{\"close\":true}}"
		"\x81\x19{\"stderr\":{\"close\":true}}\x81\x1b{\"exited\":true,\"result\":{}}"
		"\x88\x02\x03\xe8";
	static const uint8_t no_mask[4];
	char query[2000], bytes[sizeof wanted] = "",
				       frame[WEB_SOCKET_HEAD_BYTES + sizeof CLOSE_INPUT];
	int ends[2];
	size_t head;
	exec_call_query("main", "[\"echo\",\"hi\"]", "&tty=false", query);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	size_t more = exec_call_request(ends[0], ALLOC, query, EXEC_CALL_UPGRADE, &head);
	size_t size =
		web_socket_head((uint8_t *)frame, WEB_SOCKET_TEXT, sizeof CLOSE_INPUT - 1, no_mask);
	memcpy(frame + size, CLOSE_INPUT, sizeof CLOSE_INPUT - 1);
	size += sizeof CLOSE_INPUT - 1;
	memcpy(bytes, text + head, more);
	assert_int_equal(send(ends[0], frame, size, MSG_NOSIGNAL), size);
	while (more < sizeof wanted - 1) {
		struct pollfd polled[] = {{.fd = ends[0], .events = POLLIN},
			{.fd = ask_runner_fd(mailbox), .events = POLLIN}};
		assert_true(poll(polled, 2, 20000) > 0);
		if (polled[1].revents)
			exec_agent_serve();
		ssize_t n = polled[0].revents
				    ? recv(ends[0], bytes + more, sizeof wanted - 1 - more, 0)
				    : 0;
		assert_true(n > 0 || !polled[0].revents);
		more += (size_t)n;
	}
	assert_memory_equal(bytes, wanted, sizeof wanted - 1);
	close(ends[0]);
}

static void what_is_refused_before(void **unused)
{
	static const struct {
		const char *query, *headers, *status, *body;
	} rows[] = {
		{"task=main&command=zz&ws_handshake=true", EXEC_CALL_UPGRADE, " 500 ",
			"failed to marshal command into json: invalid character 'z' looking for "
			"beginning of value"},
		{"task=main", EXEC_CALL_UPGRADE, " 500 ",
			"failed to marshal command into json: unexpected end of JSON input"},
		{"task=main&command=%5B1%5D", EXEC_CALL_UPGRADE, " 500 ",
			"failed to marshal command into json: it is no list of at most 1024 "
			"strings"},
		{"task=main&command=%5B%22echo%22%5D&tty=zz", EXEC_CALL_UPGRADE, " 500 ",
			"tty value is not a boolean: strconv.ParseBool: parsing \"zz\": invalid "
			"syntax"},
		{"task=main&command=%5B%22echo%22%5D", "", " 400 ",
			"Bad Request\nfailed to upgrade connection: websocket: the client is not "
			"using "
			"the websocket protocol: 'upgrade' token not found in 'Connection' header"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int ends[2];
		size_t head;
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
		assert_int_equal(agent_service_take(service, ends[1]), 0);
		exec_call_request(ends[0], ALLOC, rows[i].query, rows[i].headers, &head);
		assert_non_null(strstr(text, rows[i].status));
		size_t size = strlen(text + head);
		while (size < strlen(rows[i].body)) {
			ssize_t n = recv(ends[0], text + head + size, 500, 0);
			assert_true(n > 0);
			size += (size_t)n;
			text[head + size] = '\0';
		}
		assert_string_equal(text + head, rows[i].body);
		close(ends[0]);
	}
}

static void as_the_task_does(void **unused)
{
	char wanted[300];
	snprintf(wanted, sizeof wanted, "hello %s/alloc/" ALLOC "/main\n<stdout><stderr><0>",
		stage_folder);
	expect_talk(ALLOC, &(struct talk){"main", "[\"sh\",\"-c\",\"echo $GREETING $PWD\"]",
				   GREETED, {HANDSHAKE, CLOSE_INPUT}, wanted});
}

// Its own root, folders, processes and rights are those of a command in it.
static void as_a_confined_task_does(void **unused)
{
	if (geteuid() != 0)
		skip();
	expect_talk(ALLOC,
		&(struct talk){"jailed",
			"[\"sh\",\"-c\",\"echo $NOMAD_TASK_DIR $PWD $(id -un) $(cat /proc/1/comm); "
			"grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/1/status >/tmp/one; "
			"grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | diff /tmp/one "
			"- && "
			"unshare -U true 2>/dev/null || echo refused\"]",
			GREETED, {HANDSHAKE, CLOSE_INPUT},
			"/local / nobody sleep\nrefused\n<stdout><stderr><0>"});
}

static void an_agent_that_is_told_not_to(void **unused)
{
	expect_talk(ALLOC,
		&(struct talk){"main", "[\"echo\",\"hi\"]", GREETED, {HANDSHAKE},
			"<1008 this node runs no commands inside tasks: its agent has --no-exec>"});
}

static void no_more_than_so_many(void **unused)
{
	struct exec_client many[EXEC_COMMANDS_MAX];
	char query[2000];
	exec_call_query("main", "[\"sh\",\"-c\",\"echo; sleep 1000\"]", "", query);
	for (size_t i = 0; i < EXEC_COMMANDS_MAX; i++) {
		exec_call_begin(&many[i], ALLOC, query);
		assert_non_null(exec_client_hear(&many[i], 20000));
	}
	expect_talk(ALLOC,
		&(struct talk){"main", "[\"echo\"]", GREETED, {HANDSHAKE},
			"<1011 this node runs as many commands inside tasks as it may; try again "
			"later>"});
	for (size_t i = 0; i < EXEC_COMMANDS_MAX; i++)
		exec_client_close(&many[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_recorded, open_willing, close_agent),
		cmocka_unit_test_setup_teardown(the_bytes_on_the_wire, open_willing, close_agent),
		cmocka_unit_test_setup_teardown(what_is_refused_before, open_willing, close_agent),
		cmocka_unit_test_setup_teardown(as_the_task_does, open_willing, close_agent),
		cmocka_unit_test_setup_teardown(as_a_confined_task_does, open_willing, close_agent),
		cmocka_unit_test_setup_teardown(
			an_agent_that_is_told_not_to, open_unwilling, close_agent),
		cmocka_unit_test_setup_teardown(no_more_than_so_many, open_willing, close_agent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
