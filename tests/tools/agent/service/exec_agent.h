// An agent's service with an allocation that has tasks of every kind that matters to commands: "main" runs a process,
// "pre" is over, "pretended" has no process; "jailed" is confined, where root runs the test. One a program.
#pragma once
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"

#define EXEC_AGENT_ALLOC "f6343442-3c41-98e1-6c06-fe8fa744180e"

extern struct ask_runner *mailbox; // who waits on it is served by exec_agent_serve()
extern struct agent_service *service;

// routes NULL: the agent's own. Answers as a set-up does.
int exec_agent_open(const struct service_route *routes, bool no_exec);
int exec_agent_close(void);
void exec_agent_serve(void);
