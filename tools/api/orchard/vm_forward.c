// What only the worker of a machine can answer: a port of it over a WebSocket and its address, as Orchard's clients ask
// for them, and what it says on its serial port; and a port of a worker itself. Who may is settled here, and so is
// which node that is, once the machine runs; the rest is its agent's answer.
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/node.h"
#include "state/records/nodes/vm.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/elsewhere/node_line.h"
#include "tools/api/server/parking.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORWARD_WAIT_S 10u // unless the request says how long

struct way {
	enum { WAY_TO_NOTHING, WAY_TO_THE_ENDED, WAY_TO_COME, WAY_BY_HAND, WAY_OPEN } kind;
	const struct vm *vm;
	struct uuid node;
};

// The way to a machine that runs, or to one that has a worker. Under read lock.
static struct way find_way(const struct request *request, bool has_to_run)
{
	const struct state *state = request->api->settings.state;
	const struct vm *vm = state_vm(state, text_of(request->ids[0]));
	const struct vm_worker *worker = vm ? state_vm_worker(state, text_of(vm->worker)) : NULL;
	struct way way = {.vm = vm};
	if (!vm)
		way.kind = WAY_TO_NOTHING;
	else if (has_to_run && (vm->status == VM_FAILED || vm->power_state != VM_POWER_RUNNING))
		way.kind = WAY_TO_THE_ENDED;
	else if (!worker)
		way.kind = WAY_TO_COME;
	else if (uuid_is_zero(&worker->node))
		way.kind = WAY_BY_HAND;
	else if (has_to_run && vm->status != VM_RUNNING)
		way.kind = WAY_TO_COME;
	else
		way = (struct way){WAY_OPEN, vm, worker->node};
	return way;
}

static void refuse_by_hand(struct reply *reply, const char *worker, const char *what)
{
	reply_error(reply, MHD_HTTP_SERVICE_UNAVAILABLE,
		"the worker \"%.128s\" is kept by hand: %s not reached through this controller",
		worker, what);
}

static void refuse_way(const struct request *request, const struct way *way, struct reply *reply)
{
	const struct vm *vm = way->vm;
	switch (way->kind) {
	case WAY_TO_NOTHING:
		reply_error(reply, MHD_HTTP_NOT_FOUND, "VM \"%.128s\" not found", request->ids[0]);
		break;
	case WAY_TO_THE_ENDED:
		reply_error(reply, MHD_HTTP_EXPECTATION_FAILED, "VM is in a terminal state '%s'",
			vm->status == VM_FAILED ? vm_status_names[VM_FAILED]
						: vm_power_names[vm->power_state]);
		break;
	case WAY_TO_COME:
		reply_error(reply, MHD_HTTP_REQUEST_TIMEOUT, "VM is not running on '%.128s' worker",
			vm->worker ? vm->worker : "");
		break;
	case WAY_BY_HAND: refuse_by_hand(reply, vm->worker, "its machines are"); break;
	case WAY_OPEN: break;
	}
}

static bool comes_no_more(const void *context)
{
	return find_way(context, true).kind != WAY_TO_COME || access_has_ended(context);
}

static bool has_worker(const void *context)
{
	return find_way(context, false).kind != WAY_TO_COME || access_has_ended(context);
}

// The rest of the wait in whole seconds, at least what is left.
static unsigned seconds_left(const struct request *request, uint64_t wait_s)
{
	uint64_t now_ns = time_monotonic_ns(request->api->settings.time);
	if (!request->awaited_until_ns)
		return (unsigned)wait_s;
	return now_ns < request->awaited_until_ns
		       ? (unsigned)((request->awaited_until_ns - now_ns + NS_PER_S - 1) / NS_PER_S)
		       : 0;
}

// asked_for: of the client. Its path, with what its machine's worker has to know.
static void ask_worker(struct request *request, struct reply *reply, const struct uuid *node,
	const char *asked_for, const char *query)
{
	int path = (int)strcspn(asked_for, "?");
	size_t room = (size_t)path + strlen(query) + sizeof "?";
	char *target = memory_take(room);
	snprintf(target, room, "%.*s?%s", path, asked_for, query);
	ask_node(request, reply, node, target);
	free(target);
}

static bool read_wait(struct request *request, uint64_t *wait_s, struct reply *reply)
{
	const char *text = request_parameter(request, "wait");
	return !text || !*text || number_parse(text, UINT16_MAX, wait_s) ||
	       reply_mistake(reply, "wait: expected seconds, at most %u", UINT16_MAX);
}

// How a machine is waited for.
struct machine_wait {
	bool has_to_run;
	struct parked_kind kind;
};
static const struct machine_wait until_it_runs = {true, {.is_ready = comes_no_more}};
static const struct machine_wait until_it_has_a_worker = {false, {.is_ready = has_worker}};

// What is asked of a machine's worker.
struct errand {
	const char *target; // of the client's request
	const char *query;  // ends with what comes before the seconds that are left
	const struct machine_wait *wait;
	uint64_t wait_s;
};

// Asks the worker, at once or when there is one.
static void ask_when_there(
	struct request *request, struct reply *reply, const struct errand *errand)
{
	char whole[1600];
	state_read_begin();
	struct way way = find_way(request, errand->wait->has_to_run);
	bool waits = way.kind == WAY_TO_COME &&
		     parking_await(request, &errand->wait->kind, errand->wait_s * NS_PER_S);
	if (!waits)
		refuse_way(request, &way, reply);
	if (way.kind == WAY_OPEN)
		snprintf(whole, sizeof whole, "%suid=%s&wait=%u", errand->query, way.vm->uid,
			seconds_left(request, errand->wait_s));
	state_read_end();
	if (way.kind == WAY_OPEN)
		ask_worker(request, reply, &way.node, errand->target, whole);
}

static bool read_forward(
	struct request *request, uint64_t *port, uint64_t *wait_s, struct reply *reply)
{
	const char *text = request_parameter(request, "port");
	*wait_s = FORWARD_WAIT_S;
	if (!text || !number_parse(text, UINT16_MAX, port) || *port == 0)
		return reply_mistake(reply, "port: expected a number from 1 to 65535");
	return read_wait(request, wait_s, reply);
}

void vm_port_forward(struct request *request, struct reply *reply, const char *target)
{
	uint64_t port, wait_s;
	char query[40];
	if (!read_forward(request, &port, &wait_s, reply))
		return;
	snprintf(query, sizeof query, "port=%u&", (unsigned)port);
	ask_when_there(request, reply, &(struct errand){target, query, &until_it_runs, wait_s});
}

// A node is waited for as long as the line waits for every node.
void vm_worker_port_forward(struct request *request, struct reply *reply, const char *target)
{
	uint64_t port, wait_s;
	char query[40];
	struct uuid node = {0};
	if (!read_forward(request, &port, &wait_s, reply))
		return;
	state_read_begin();
	const struct vm_worker *worker =
		state_vm_worker(request->api->settings.state, text_of(request->ids[0]));
	if (worker)
		node = worker->node;
	state_read_end();
	snprintf(query, sizeof query, "port=%u", (unsigned)port);
	if (!worker)
		reply_error(
			reply, MHD_HTTP_NOT_FOUND, "worker \"%.128s\" not found", request->ids[0]);
	else if (uuid_is_zero(&node))
		refuse_by_hand(reply, request->ids[0], "its ports are");
	else
		ask_worker(request, reply, &node, target, query);
}

void vm_ip(struct request *request, struct reply *reply, const char *target)
{
	uint64_t wait_s = 0;
	if (read_wait(request, &wait_s, reply))
		ask_when_there(
			request, reply, &(struct errand){target, "", &until_it_runs, wait_s});
}

static const char *parameter_or_empty(const struct request *request, const char *name)
{
	const char *value = request_parameter(request, name);
	return value ? value : "";
}

static bool read_follow(const struct request *request, bool *follows, struct reply *reply)
{
	const char *text = parameter_or_empty(request, "follow");
	*follows = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	return *follows || !*text || strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ||
	       reply_mistake(reply, "follow: expected true or false");
}

void vm_logs(struct request *request, struct reply *reply, const char *target)
{
	uint64_t wait_s = 0, offset = 0;
	bool follows;
	const char *origin = parameter_or_empty(request, "origin");
	const char *text = parameter_or_empty(request, "offset");
	char query[200];
	if (*origin && strcmp(origin, "start") != 0 && strcmp(origin, "end") != 0) {
		reply_mistake(reply, "origin: expected start or end");
		return;
	}
	if (*text && !number_parse(text, INT64_MAX, &offset)) {
		reply_mistake(reply, "offset: expected a number of bytes");
		return;
	}
	if (!read_follow(request, &follows, reply) || !read_wait(request, &wait_s, reply))
		return;
	snprintf(query, sizeof query, "follow=%d&plain=%d&origin=%s&offset=%llu&", follows,
		request_flag(request, "plain"), origin, (unsigned long long)offset);
	ask_when_there(
		request, reply, &(struct errand){target, query, &until_it_has_a_worker, wait_s});
}
