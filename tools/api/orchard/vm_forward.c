// A port of a machine over a WebSocket, as Orchard's clients ask for it: who may is settled here, and so is which node
// that is; the rest is its agent's answer.
#include "state/records/nodes/node.h"
#include "state/records/nodes/vm.h"
#include "tools/api/orchard/routes.h"
#include "tools/api/server/elsewhere/node_line.h"
#include <stdio.h>

// The node whose agent runs the machine; false: the reply says why there is none. Under read lock.
static bool find_node_of_vm(const struct request *request, struct uuid *node, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	const struct vm *vm = state_vm(state, text_of(request->ids[0]));
	const struct vm_worker *worker = vm ? state_vm_worker(state, text_of(vm->worker)) : NULL;
	if (!vm)
		reply_error(reply, MHD_HTTP_NOT_FOUND, "VM \"%.128s\" not found", request->ids[0]);
	else if (vm->status == VM_FAILED || vm->power_state != VM_POWER_RUNNING)
		reply_error(reply, MHD_HTTP_EXPECTATION_FAILED, "VM is in a terminal state '%s'",
			vm->status == VM_FAILED               ? "failed"
			: vm->power_state == VM_POWER_STOPPED ? "stopped"
							      : "suspended");
	else if (!worker)
		reply_error(reply, MHD_HTTP_REQUEST_TIMEOUT, "VM is not running on '%.128s' worker",
			vm->worker ? vm->worker : "");
	else if (uuid_is_zero(&worker->node))
		reply_error(reply, MHD_HTTP_SERVICE_UNAVAILABLE,
			"the worker \"%.128s\" is kept by hand: its ports are not reached through "
			"this "
			"controller",
			vm->worker);
	else {
		*node = worker->node;
		return true;
	}
	return false;
}

void vm_port_forward(struct request *request, struct reply *reply)
{
	struct uuid node;
	state_read_begin();
	bool is_found = find_node_of_vm(request, &node, reply);
	state_read_end();
	if (is_found)
		answer_by_node(request, reply, &node);
}
