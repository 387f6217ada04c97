#include "tests/tools/agent/service/exec_agent.h"
#include "state/base/time_source.h"
#include "tests/tools/agent/confine/slice.h"
#include "tools/agent/confine/confine.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

struct ask_runner *mailbox;
struct agent_service *service;

static struct confine confine;
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
	static const char jailed[] = ",{\"Name\":\"jailed\",\"Driver\":\"exec\",\"User\":"
				     "\"nobody\",\"CPU\":100,\"MemoryMB\":64,"
				     "\"Config\":{\"command\":\"/bin/sleep\",\"args\":[\"1000\"]}}";
	const struct confine_settings confinement = {.group_parent = slice_name(),
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT};
	char all[sizeof tasks + sizeof jailed];
	struct agent_service_settings settings = {
		.time = &time_source_real, .no_exec = no_exec, .routes = routes};
	struct uuid id;
	char message[200];
	snprintf(all, sizeof all, "%s%s", tasks, geteuid() == 0 ? jailed : "");
	if (confine_open(&confine, &confinement, message, sizeof message) < 0)
		fail_msg("%s", message);
	stage_confine = geteuid() == 0 ? &confine : NULL;
	stage_open(&node);
	assert_true(uuid_parse(EXEC_AGENT_ALLOC, &id));
	struct alloc_run *a = stage_run(&id, "service", "", all);
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
	runner_stop_all(&runner);
	for (uint32_t i = 0; i < runner.allocs->task_count; i++)
		process_signal(&runner.allocs->tasks[i].process, SIGKILL);
	STAGE_AWAIT(runner_is_idle(&runner), stage_pass_ms(10));
	int result = stage_close();
	return result + stage_close_confine(&confine);
}
