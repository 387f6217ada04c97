// /v1/vms/:id/port-forward: a port of a virtual machine of this node, as the bytes of a WebSocket's binary messages.
// /v1/workers/:id/port-forward: one of this node's own, if its operator lets it be reached.
// They are reached before the socket is opened, so that what is wrong is a status, as Orchard's clients expect.
// /v1/vms/:id/ip: its address.
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/number_ranges.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/base/loopback.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service_inner.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_socket.h"
#include "tools/agent/service/vm_look.h"
#include "tools/agent/vm/guest_port.h"
#include "tools/json/json_writer.h"
#include "tools/web_socket/relay.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// How often a machine is looked at that is waited for.
#define WAIT_TURN_MS 200

static void search_machine(struct runner *runner, void *context)
{
	struct vm_look *look = context;
	struct task_folders folders;
	for (const struct alloc_run *a = runner->allocs; a && !look->is_up; a = a->next) {
		const json_t *machine =
			a->is_machine && a->spec ? json_object_get(a->spec->root, "Machine") : NULL;
		if (!machine || a->task_count == 0 ||
			strcmp(spec_text(machine, "name"), look->name) != 0 ||
			(*look->uid && strcmp(spec_text(machine, "uid"), look->uid) != 0))
			continue;
		look->is_up = task_is_up(&a->tasks[0]);
		if (look->is_here && !look->is_up)
			continue;
		look->is_here = true;
		look->id = a->id;
		alloc_run_task_folders(a, &a->tasks[0], runner->settings.data_folder, &folders);
		snprintf(look->folder, sizeof look->folder, "%s", folders.secrets);
	}
}

struct MHD_Response *vm_say(unsigned *status, unsigned value, const char *format, ...)
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

struct port_relay {
	int fd;
};

static void port_relay_free(void *context)
{
	struct port_relay *r = context;
	close(r->fd);
	free(r);
}

static void talk_port_relay(void *context, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
	const struct port_relay *r = context;
	relay_run(socket, stream, r->fd, r->fd, stop_fd);
}

// NULL, or what is wrong.
static struct MHD_Response *port_relay_read(
	const struct service_request *request, uint16_t *port, unsigned *status)
{
	const char *text = service_parameter(request, "port");
	char *end = NULL;
	unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	*port = (uint16_t)number;
	if (end && !*end && number > 0 && number <= UINT16_MAX)
		return NULL;
	return vm_say(status, MHD_HTTP_BAD_REQUEST, "port: expected a number from 1 to 65535");
}

// Owns the descriptor, which does not block.
static struct MHD_Response *port_relay_begin(
	struct service_request *request, int fd, unsigned *status)
{
	struct port_relay *r = memory_take(sizeof *r);
	r->fd = fd;
	struct service_socket_start start = {
		talk_port_relay, r, port_relay_free, RELAY_MESSAGE_BYTES_MAX};
	return service_socket_begin(request, status, &start);
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

// Waits until the machine is there, or up, for so long. What ask_runner() says.
static int await_machine(
	struct service_request *request, struct vm_look *look, bool has_to_run, uint64_t wait_ns)
{
	uint64_t until_ns = time_monotonic_ns(&time_source_real) + wait_ns;
	for (;;) {
		int error = ask_runner(
			request->settings->ask, search_machine, look, ASK_RUNNER_WAIT_MS);
		if (error || (has_to_run ? look->is_up : look->is_here) ||
			time_monotonic_ns(&time_source_real) >= until_ns)
			return error;
		if (service_wait(request, -1, WAIT_TURN_MS) == SERVICE_OVER)
			return -ESHUTDOWN;
	}
}

struct MHD_Response *vm_find(
	struct service_request *request, struct vm_look *look, bool has_to_run, unsigned *status)
{
	const char *uid = service_parameter(request, "uid");
	uint64_t wait_ns;
	*look = (struct vm_look){.name = request->id, .uid = uid ? uid : ""};
	if (!read_wait(request, &wait_ns))
		return vm_say(
			status, MHD_HTTP_BAD_REQUEST, "wait: expected seconds, at most 65535");
	if (await_machine(request, look, has_to_run, wait_ns) != 0)
		return vm_say(status, MHD_HTTP_SERVICE_UNAVAILABLE,
			"the worker's agent is too busy to answer, or stops");
	if (has_to_run && !look->is_up)
		return vm_say(status, MHD_HTTP_REQUEST_TIMEOUT,
			"the virtual machine \"%.200s\" does not run on its worker", look->name);
	return NULL;
}

struct MHD_Response *vm_port_forward(struct service_request *request, unsigned *status)
{
	struct vm_look look;
	char message[300];
	uint16_t port;
	struct MHD_Response *refusal = port_relay_read(request, &port, status);
	if (!refusal)
		refusal = vm_find(request, &look, true, status);
	if (refusal)
		return refusal;
	int fd = guest_port_connect(
		look.folder, port, request->service->stop_fd, message, sizeof message);
	if (fd < 0)
		return vm_say(status, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", message);
	return port_relay_begin(request, fd, status);
}

static bool may_be_reached(const struct agent_service_settings *settings, uint16_t port)
{
	struct text left = text_of(settings->worker_ports);
	struct number_range range;
	while (settings->worker_ports && number_ranges_next(&left, UINT16_MAX, &range))
		if (port >= range.least && port <= range.most)
			return true;
	return false;
}

// A server may listen on either of the loopback's addresses.
static int connect_to_worker(uint16_t port)
{
	int fd = loopback_connect(AF_INET, port, LOOPBACK_WAIT_MS);
	return fd == -ECONNREFUSED ? loopback_connect(AF_INET6, port, LOOPBACK_WAIT_MS) : fd;
}

struct MHD_Response *worker_port_forward(struct service_request *request, unsigned *status)
{
	uint16_t port;
	struct MHD_Response *refusal = port_relay_read(request, &port, status);
	if (refusal)
		return refusal;
	if (!may_be_reached(request->settings, port))
		return vm_say(status, MHD_HTTP_FORBIDDEN,
			"port %u of this worker may not be reached: its agent's --worker-ports "
			"does not have it",
			port);
	int fd = connect_to_worker(port);
	if (fd < 0)
		return vm_say(status, MHD_HTTP_SERVICE_UNAVAILABLE,
			"cannot connect to port %u of this worker: %s", port, strerror(-fd));
	log_info("worker-port", "port=%u", port);
	return port_relay_begin(request, fd, status);
}

struct MHD_Response *vm_address(struct service_request *request, unsigned *status)
{
	struct vm_look look;
	struct json_writer w = {0};
	char message[300], address[GUEST_ADDRESS_BYTES];
	struct MHD_Response *refusal = vm_find(request, &look, true, status);
	if (refusal)
		return refusal;
	if (guest_address(
		    look.folder, request->service->stop_fd, address, message, sizeof message) < 0)
		return vm_say(status, MHD_HTTP_SERVICE_UNAVAILABLE, "%s", message);
	json_begin_object(&w);
	json_put_string(&w, "ip", address);
	json_end_object(&w);
	return service_json(status, &w);
}
