// What the service answers of the checks of an allocation.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct ask_runner *mailbox;
static struct agent_service *service;

static int set_up(void **unused)
{
	char message[200];
	stage_open(&facts);
	mailbox = ask_runner_create();
	struct agent_service_settings settings = {
		.ask = mailbox, .data_folder = stage_folder, .time = &time_source_real};
	return agent_service_start(&settings, &service, message, sizeof message);
}

static int tear_down(void **unused)
{
	ask_runner_close(mailbox);
	agent_service_stop(service);
	ask_runner_destroy(mailbox);
	return stage_close();
}

// The whole answer. The main thread serves the mailbox meanwhile.
static void ask_checks(const char *alloc, char answer[static 2000])
{
	char request[200];
	int ends[2];
	size_t size = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	int length = snprintf(request, sizeof request,
		"GET /v1/client/allocation/%s/checks HTTP/1.1\r\nHost: n\r\nConnection: "
		"close\r\n\r\n",
		alloc);
	assert_int_equal(write(ends[0], request, (size_t)length), length);
	struct pollfd polled[] = {{.fd = ends[0], .events = POLLIN},
		{.fd = ask_runner_fd(mailbox), .events = POLLIN}};
	while (poll(polled, 2, 10000) > 0) {
		if (polled[1].revents)
			ask_runner_serve(mailbox, &runner);
		ssize_t n = polled[0].revents ? read(ends[0], answer + size, 1999 - size) : 1;
		if (n <= 0)
			break;
		size += polled[0].revents ? (size_t)n : 0;
	}
	answer[size] = '\0';
	close(ends[0]);
}

static void checks_are_shown_by_their_ids(void **unused)
{
	char answer[2000];
	stage_run(&id, "service",
		"\"Services\":[{\"Name\":\"s\",\"Checks\":[{\"Name\":\"c\",\"Type\":\"tcp\"}]}],",
		"{\"Name\":\"a\",\"Driver\":\"mock\"}");
	ask_checks("a1000000-0000-0000-0000-000000000000", answer);
	assert_non_null(strstr(answer, "HTTP/1.1 200 OK\r\n"));
	assert_non_null(strstr(answer, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(answer, "\"Check\":\"c\""));
	assert_non_null(strstr(answer, "\"Status\":\"failure\""));
}

static void an_allocation_without_checks_has_none(void **unused)
{
	char answer[2000];
	stage_run(&id, "service", "", "{\"Name\":\"a\",\"Driver\":\"mock\"}");
	ask_checks("a1000000-0000-0000-0000-000000000000", answer);
	assert_non_null(strstr(answer, "\r\n\r\n{}"));
}

static void an_unknown_allocation_is_not_found(void **unused)
{
	static const char *const unknown[] = {"a2000000-0000-0000-0000-000000000000", "x"};
	char answer[2000], text[100];
	runner_add_ended(&runner, &id, false);
	for (uint32_t i = 0; i < 2; i++) {
		ask_checks(unknown[i], answer);
		snprintf(text, sizeof text, "\r\n\r\nUnknown allocation \"%s\"", unknown[i]);
		assert_non_null(strstr(answer, "HTTP/1.1 404 "));
		assert_non_null(strstr(answer, text));
	}
	ask_checks("a1000000-0000-0000-0000-000000000000", answer);
	assert_non_null(strstr(answer, "HTTP/1.1 404 "));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(checks_are_shown_by_their_ids),
		TEST(an_allocation_without_checks_has_none),
		TEST(an_unknown_allocation_is_not_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
