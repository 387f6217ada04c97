#include "tests/tools/agent/service/exec_agent.h"
#include "state/base/time_source.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct ask_runner *mailbox;
struct agent_service *service;

static const struct node_facts node = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};

void exec_agent_serve(void)
{
	ask_runner_serve(mailbox, &runner);
}

int exec_agent_open(const struct service_route *routes, bool no_exec)
{
	static const char tasks[] =
		"{\"Name\":\"main\",\"Driver\":\"raw_exec\",\"Env\":{\"GREETING\":\"hello\"},"
		"\"Config\":{\"command\":\"sleep\",\"args\":[\"1000\"]}},"
		"{\"Name\":\"pre\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"1ms\"},"
		"\"Lifecycle\":{\"Hook\":\"poststart\"}},"
		"{\"Name\":\"pretended\",\"Driver\":\"mock\",\"Config\":{}}";
	struct agent_service_settings settings = {
		.time = &time_source_real, .no_exec = no_exec, .routes = routes};
	struct uuid id;
	char message[200];
	stage_open(&node);
	assert_true(uuid_parse(EXEC_AGENT_ALLOC, &id));
	struct alloc_run *a = stage_run(&id, "service", "", tasks);
	assert_true(a->tasks[0].process.task > 0);
	stage_pass_ms(10);
	settings.data_folder = stage_folder;
	settings.ask = mailbox = ask_runner_create();
	return mailbox ? agent_service_start(&settings, &service, message, sizeof message) : -1;
}

int exec_agent_close(void)
{
	ask_runner_close(mailbox);
	agent_service_stop(service);
	ask_runner_destroy(mailbox);
	const struct process *task = &runner.allocs->tasks[0].process;
	struct pollfd polled = {.fd = task->fd, .events = POLLIN};
	process_signal(task, SIGKILL);
	poll(&polled, 1, 20000);
	return stage_close();
}
