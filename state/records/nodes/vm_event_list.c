// The events that are kept with a machine: of its life, and what its worker tells of it.
#include "state/base/memory.h"
#include "state/records/nodes/vm.h"
#include <stdlib.h>
#include <string.h>

static bool is_told(const struct vm_event *event)
{
	return event->kind && *event->kind;
}

static void event_release(struct vm_event *event)
{
	free(event->message);
	free(event->kind);
}

void vm_drop_events(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->events.count; i++)
		event_release(ARRAY_AT(&vm->events, struct vm_event, i));
	free(vm->events.items);
	vm->events = (struct array){0};
}

static void drop_oldest(struct vm *vm, bool told)
{
	struct vm_event *events = vm->events.items;
	uint32_t at = 0;

	while (at < vm->events.count && is_told(&events[at]) != told)
		at++;
	if (at == vm->events.count)
		return;
	event_release(&events[at]);
	memmove(&events[at], &events[at + 1], (vm->events.count - at - 1) * sizeof *events);
	vm->events.count--;
}

struct room {
	uint32_t events;
	size_t bytes;
};

static struct room taken_by(const struct vm *vm, bool told)
{
	struct room taken = {0};

	for (uint32_t i = 0; i < vm->events.count; i++) {
		const struct vm_event *event = ARRAY_AT(&vm->events, struct vm_event, i);
		if (is_told(event) != told)
			continue;
		taken.events++;
		taken.bytes += text_of(event->message).size;
	}
	return taken;
}

static void event_add(struct vm *vm, struct text kind, struct text message, int64_t time_ns)
{
	struct vm_event *event = array_append(&vm->events, sizeof *event);

	event->time_ns = time_ns;
	event->message = text_copy(message);
	event->kind = kind.size ? text_copy(kind) : NULL;
}

void vm_note(struct vm *vm, const char *message, int64_t now_ns)
{
	while (taken_by(vm, false).events >= VM_EVENTS_MAX)
		drop_oldest(vm, false);
	event_add(vm, (struct text){0}, text_of(message), now_ns);
}

void vm_tell(struct vm *vm, struct text kind, struct text message, int64_t time_ns)
{
	struct room taken;

	while (taken = taken_by(vm, true),
		taken.events > 0 && (taken.events >= VM_TOLD_MAX ||
					    taken.bytes + message.size > VM_TOLD_BYTES_MAX))
		drop_oldest(vm, true);
	event_add(vm, kind, message, time_ns);
}
