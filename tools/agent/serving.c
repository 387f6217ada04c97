// The agent's HTTP service, and the line over which its controller asks it.
#include "state/base/time_source.h"
#include "tools/agent/agent.h"
#include <errno.h>
#include <stdio.h>

static int start_service(struct agent *a, char *message, uint32_t message_size)
{
	struct agent_service_settings settings = {.data_folder = a->runner.settings.data_folder,
		.time = &time_source_real,
		.no_exec = a->options->no_exec,
		.worker_ports = a->options->worker_ports};
	settings.ask = a->ask = ask_runner_create();
	if (a->ask)
		return agent_service_start(&settings, &a->service, message, message_size);
	snprintf(message, message_size, "service: eventfd: %m");
	return -EMFILE;
}

// On a thread of the line's.
static int serve_controller(void *context, int fd)
{
	const struct agent *a = context;
	return agent_service_take(a->service, fd);
}

static int open_line(struct agent *a, char *message, uint32_t message_size)
{
	const struct line_settings settings = {.node = a->identity.node,
		.key = a->beat.session.key,
		.key_id = a->beat.session.key_id,
		.address = a->options->dial,
		.serve = serve_controller,
		.context = a};
	a->line = line_open(&settings);
	if (a->line)
		return 0;
	snprintf(message, message_size, "line to the controller: memory or descriptors are short");
	return -ENOMEM;
}

int agent_serve(struct agent *a, char *message, uint32_t message_size)
{
	int rc = start_service(a, message, message_size);
	return rc < 0 ? rc : open_line(a, message, message_size);
}

void agent_serve_no_more(struct agent *a)
{
	line_close(a->line);
	if (a->ask)
		ask_runner_close(a->ask);
	agent_service_stop(a->service);
	ask_runner_destroy(a->ask);
}
