// /v1/vms/:id/port-forward: a port of a virtual machine of this node, as the bytes of a WebSocket's binary messages.
// The machine is reached before the socket is opened, so that what is wrong is a status, as Orchard's clients expect.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service_inner.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_socket.h"
#include "tools/agent/vm/guest_port.h"
#include "tools/json/json_writer.h"
#include "tools/web_socket/relay.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How often a machine is looked at that is waited for.
#define WAIT_TURN_MS 200

struct machine_search {
	const char *name;
	bool is_up;
	char folder[512]; // where its monitor is
};

// A machine that begins anew has two instances for a while.
static void search_machine(struct runner *runner, void *context)
{
	struct machine_search *s = context;
	struct task_folders folders;
	for (const struct alloc_run *a = runner->allocs; a && !s->is_up; a = a->next) {
		const json_t *machine =
			a->is_machine && a->spec ? json_object_get(a->spec->root, "Machine") : NULL;
		if (!machine || a->task_count == 0 ||
			strcmp(spec_text(machine, "name"), s->name) != 0)
			continue;
		s->is_up = task_is_up(&a->tasks[0]);
		alloc_run_task_folders(a, &a->tasks[0], runner->settings.data_folder, &folders);
		snprintf(s->folder, sizeof s->folder, "%s", folders.secrets);
	}
}

// {"message": "…"}
__attribute__((format(printf, 3, 4))) static struct MHD_Response *say_of_machine(
	unsigned *status, unsigned value, const char *format, ...)
{
	char text[400];
	struct json_writer w = {0};
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_begin_object(&w);
	json_write_key(&w, "message");
	json_write_string(&w, text);
	json_end_object(&w);
	struct MHD_Response *response = service_json(status, &w);
	*status = value;
	return response;
}

static bool read_port(const struct service_request *request, uint16_t *port)
{
	const char *text = service_parameter(request, "port");
	char *end = NULL;
	unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	*port = (uint16_t)number;
	return end && !*end && number > 0 && number <= UINT16_MAX;
}

struct forward {
	int fd;
};

static void forward_free(void *context)
{
	struct forward *f = context;
	close(f->fd);
	free(f);
}

static void talk_forward(void *context, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
	const struct forward *f = context;
	relay_run(socket, stream, f->fd, f->fd, stop_fd);
}

static bool read_wait(const struct service_request *request, uint64_t *wait_ns)
{
	const char *text = service_parameter(request, "wait");
	char *end = NULL;
	*wait_ns = 0;
	if (!text || !*text)
		return true;
	unsigned long seconds = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	*wait_ns = seconds * (uint64_t)NS_PER_S;
	return end && !*end && seconds <= UINT16_MAX;
}

// Waits until the machine is up, for so long. What ask_runner() says.
static int await_machine(
	struct service_request *request, struct machine_search *s, uint64_t wait_ns)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + wait_ns;
	for (;;) {
		int error =
			ask_runner(request->settings->ask, search_machine, s, ASK_RUNNER_WAIT_MS);
		if (error || s->is_up || time_monotonic_ns(&time_source_real) >= until_ns)
			return error;
		if (service_wait(request, -1, WAIT_TURN_MS) == SERVICE_OVER)
			return -ESHUTDOWN;
	}
}

struct MHD_Response *vm_port_forward(struct service_request *request, unsigned *status)
{
	struct machine_search s = {.name = request->id};
	uint64_t wait_ns;
	char message[300];
	uint16_t port;
	if (!read_port(request, &port))
		return say_of_machine(
			status, MHD_HTTP_BAD_REQUEST, "port: expected a number from 1 to 65535");
	if (!read_wait(request, &wait_ns))
		return say_of_machine(
			status, MHD_HTTP_BAD_REQUEST, "wait: expected seconds, at most 65535");
	int error = await_machine(request, &s, wait_ns);
	if (error)
		return say_of_machine(status, MHD_HTTP_SERVICE_UNAVAILABLE,
			"the worker's agent is too busy to answer, or stops");
	if (!s.is_up)
		return say_of_machine(status, MHD_HTTP_REQUEST_TIMEOUT,
			"the virtual machine \"%.200s\" does not run on its worker", s.name);
	int fd = guest_port_connect(
		s.folder, port, request->service->stop_fd, message, sizeof message);
	if (fd < 0)
		return say_of_machine(status, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", message);
	struct forward *f = memory_take(sizeof *f);
	f->fd = fd;
	struct service_socket_start start = {
		talk_forward, f, forward_free, RELAY_MESSAGE_BYTES_MAX};
	return service_socket_begin(request, status, &start);
}
