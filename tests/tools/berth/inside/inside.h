// A server of HTTP that answers as a controller would that passes requests on to its node: an agent's service behind a
// port. One a program.
#pragma once
#include "tests/tools/berth/run.h"
#include "tools/agent/service/service_routes.h"

extern unsigned inside_port;

// Starts it with these routes, and run.h for it. Both answer as set-up and tear-down do.
int inside_start(const struct service_route *);
int inside_stop(void);
// Runs a line of the shell, with BERTH_ADDR and with the test's folder first in PATH. text gets what it prints; returns
// its exit status.
int inside_shell(const char *line, char *text, size_t size);
