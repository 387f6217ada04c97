#include "state/records/nodes/vm_events.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct vm_marks vm_marks(const struct vm *vm)
{
	if (!vm || vm->record.deleted)
		return (struct vm_marks){0};
	return (struct vm_marks){
		.is_there = true,
		.is_scheduled = vm_is_scheduled(vm),
		.is_started = vm->started_at_ns != 0,
		.status = vm->status,
		.power_state = vm->power_state,
		.instance = vm->instance,
		.restart_count = vm->restart_count,
		.generation = vm->generation,
		.uid = vm->uid ? vm->uid : "",
	};
}

static uint32_t news_of_worker(const struct vm_marks *before, const struct vm_marks *now)
{
	bool is_another = !uuid_equal(&before->instance, &now->instance);

	if (now->is_scheduled && (!before->is_scheduled || is_another))
		return VM_NEWS_SCHEDULED;
	return before->is_scheduled && !now->is_scheduled ? VM_NEWS_RELEASED : 0;
}

static uint32_t news_of_user(const struct vm_marks *before, const struct vm_marks *now)
{
	if (before->generation == now->generation)
		return 0;
	return before->power_state != now->power_state ? VM_NEWS_POWER : VM_NEWS_SPEC;
}

uint32_t vm_news(const struct vm_marks *before, const struct vm_marks *now)
{
	static const struct vm_marks nothing;
	uint32_t news = 0;

	if (!now->is_there)
		return before->is_there ? VM_NEWS_DELETED : 0;
	if (!before->is_there || strcmp(before->uid, now->uid) != 0) {
		before = &nothing;
		news = VM_NEWS_CREATED;
	} else if (before->restart_count != now->restart_count) {
		before = &nothing;
		news = VM_NEWS_RESTARTED;
	} else {
		news = news_of_user(before, now);
	}
	news |= news_of_worker(before, now);
	if (!before->is_started && now->is_started)
		news |= VM_NEWS_STARTED;
	if (before->status != VM_FAILED && now->status == VM_FAILED)
		news |= VM_NEWS_FAILED;
	return news;
}

bool vm_lost_its_worker(const struct vm *vm)
{
	const char *why = vm->status_message ? vm->status_message : "";

	return vm_is_failed(vm) &&
	       (strcmp(why, VM_TEXT_WORKER_GONE) == 0 || strcmp(why, VM_TEXT_WORKER_LOST) == 0);
}

__attribute__((format(printf, 3, 4))) static void vm_note_text(
	struct vm *vm, int64_t now_ns, const char *format, ...)
{
	char message[VM_EVENT_BYTES_MAX];
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	// What was cut off may have been cut within a character.
	while (size >= (int)sizeof message && message[0] && !text_is_printable(text_of(message)))
		message[strlen(message) - 1] = 0;
	vm_note(vm, message, now_ns);
}

void vm_note_news(struct vm *vm, const struct vm_marks *before, int64_t now_ns)
{
	const struct vm_marks now = vm_marks(vm);
	const char *worker = vm->worker ? vm->worker : "";
	const char *why = vm->status_message ? vm->status_message : "no reason was said";
	uint32_t news = vm_news(before, &now);

	if (news & VM_NEWS_CREATED)
		vm_note(vm, "VM created", now_ns);
	if (news & VM_NEWS_POWER)
		vm_note_text(vm, now_ns, "VM is to be %s", vm_power_names[vm->power_state]);
	if (news & VM_NEWS_SPEC)
		vm_note(vm, "VM specification changed", now_ns);
	if (news & VM_NEWS_SCHEDULED)
		vm_note_text(vm, now_ns, "VM assigned to worker %s", worker);
	if (news & VM_NEWS_STARTED)
		vm_note_text(vm, now_ns, "VM started on worker %s", worker);
	if (news & VM_NEWS_FAILED)
		vm_note_text(vm, now_ns, "VM failed: %s", why);
	if (news & VM_NEWS_RELEASED)
		vm_note_text(vm, now_ns, "VM released by worker %s", worker);
}

void vm_told_put(struct bytes_writer *w, const struct vm_told *told)
{
	bytes_put_u64(w, (uint64_t)told->time_ns);
	bytes_put_text16(w, told->kind);
	bytes_put_text16(w, told->message);
}

struct vm_told vm_told_take(struct bytes_reader *r)
{
	struct vm_told told = {.time_ns = (int64_t)bytes_take_u64(r)};

	told.kind = bytes_take_text16(r);
	told.message = bytes_take_text16(r);
	r->failed |= told.kind.size == 0 || !text_is_printable(told.kind) ||
		     told.message.size > VM_TOLD_BYTES_MAX;
	return told;
}
