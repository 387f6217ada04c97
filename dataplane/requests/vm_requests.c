#include "dataplane/requests/vm_requests.h"
#include "dataplane/requests/answer_header.h"
#include "dataplane/requests/packet_worker.h"
#include "dataplane/wire/wire_vm.h"
#include "state/records/nodes/vm.h"

_Static_assert((int)VM_POWER_RUNNING == (int)WIRE_VM_RUNNING &&
		       (int)VM_POWER_STOPPED == (int)WIRE_VM_STOPPED &&
		       (int)VM_POWER_SUSPENDED == (int)WIRE_VM_SUSPENDED,
	"power states go on the wire as they are");

uint64_t vm_version(const struct vm *vm)
{
	return vm->generation + 1;
}

static const struct vm_worker *worker_at(const struct packet_worker *w, uint32_t slot)
{
	const struct node *node = state_node_at(w->team->state, slot);
	return node ? state_vm_worker_of_node(w->team->state, &node->id) : NULL;
}

const struct vm *vm_of_slot(
	const struct packet_worker *w, uint32_t slot, const struct uuid *instance)
{
	const struct vm_worker *home = worker_at(w, slot);
	const struct vm *vm = home ? state_vm_by_instance(w->team->state, instance) : NULL;
	return vm && vm_is_scheduled(vm) && strcmp(vm->worker, home->name) == 0 ? vm : NULL;
}

struct page {
	struct wire_vms_reply reply;
	uint32_t at, from, most;
};

static bool add_machine(const struct vm *vm, void *context)
{
	struct page *page = context;
	uint32_t at = page->at++;

	if (at < page->from)
		return true;
	if (page->reply.count == page->most) {
		page->reply.more = 1;
		return false;
	}
	page->reply.items[page->reply.count++] = (struct wire_vm_item){.instance = vm->instance,
		.version = vm_version(vm),
		.power = (uint8_t)vm->power_state};
	return true;
}

uint32_t vms_answer(struct packet_worker *w, const struct hot_frame *f, uint8_t *frame)
{
	struct wire_vms ask;

	if (!wire_vms_decode(frame, &f->header, &ask))
		return 0;
	struct page page = {.from = ask.from, .most = ask.count};
	const struct vm_worker *home = worker_at(w, f->header.slot);
	page.reply.from = ask.from;
	page.reply.term = w->hot.table->term;
	if (home)
		state_worker_vms(w->team->state, text_of(home->name), &page.reply.version,
			add_machine, &page);
	return wire_vms_reply_encode(frame, f->header.length,
		answer_header(f, wire_vms_reply_bytes(ask.count)), &page.reply);
}
