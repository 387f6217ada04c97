#include "placement/watch/vm_log.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "state/records/nodes/vm_events.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

// Until it got a worker, or until now.
static long long waited_ms(const struct vm *vm, int64_t now_ns)
{
	int64_t until_ns = vm->scheduled_at_ns ? vm->scheduled_at_ns : now_ns;
	return until_ns > vm->created_at_ns ? (until_ns - vm->created_at_ns) / NS_PER_MS : 0;
}

static long long ran_ms(const struct vm *vm, int64_t now_ns)
{
	if (vm->started_at_ns == 0 || now_ns <= vm->started_at_ns)
		return 0;
	return (now_ns - vm->started_at_ns) / NS_PER_MS;
}

// Durations are of the machine as it was: a restart forgets them.
#define LOG_VM(log, event, vm, timed, now_ns)                                               \
	do {                                                                                \
		char worker_[NAME_BYTES_MAX], image_[NAME_BYTES_MAX], why_[NAME_BYTES_MAX]; \
		log((event),                                                                \
			"vm=%s uid=%s restarts=%llu image=%s status=%s worker=%s "          \
			"scheduling_ms=%lld run_ms=%lld message=%s",                        \
			or_empty((vm)->name), or_empty((vm)->uid),                          \
			(unsigned long long)(vm)->restart_count,                            \
			log_quote(or_empty((vm)->image), image_, sizeof image_),            \
			vm_status_names[(vm)->status],                                      \
			log_quote(or_empty((timed)->worker), worker_, sizeof worker_),      \
			waited_ms((timed), (now_ns)), ran_ms((timed), (now_ns)),            \
			log_quote(or_empty((timed)->status_message), why_, sizeof why_));   \
	} while (0)

static void log_rare_news(
	uint32_t news, const struct vm *before, const struct vm *after, int64_t now_ns)
{
	const struct vm *last = before ? before : after;

	if (news & VM_NEWS_DELETED)
		LOG_VM(log_info, "vm-deleted", last, last, now_ns);
	if (news & VM_NEWS_RESTARTED)
		LOG_VM(log_info, "vm-restarted", after, last, now_ns);
	if (news & VM_NEWS_FAILED && vm_lost_its_worker(after))
		LOG_VM(log_info, "vm-worker-lost", after, after, now_ns);
	else if (news & VM_NEWS_FAILED)
		LOG_VM(log_info, "vm-failed", after, after, now_ns);
}

static void log_usual_news(uint32_t news, const struct vm *vm, int64_t now_ns)
{
	if (news & VM_NEWS_CREATED)
		LOG_VM(log_debug, "vm-created", vm, vm, now_ns);
	if (news & (VM_NEWS_POWER | VM_NEWS_SPEC))
		LOG_VM(log_debug, "vm-changed", vm, vm, now_ns);
	if (news & VM_NEWS_SCHEDULED)
		LOG_VM(log_debug, "vm-scheduled", vm, vm, now_ns);
	if (news & VM_NEWS_STARTED)
		LOG_VM(log_debug, "vm-started", vm, vm, now_ns);
	if (news & VM_NEWS_RELEASED)
		LOG_VM(log_debug, "vm-released", vm, vm, now_ns);
}

void vm_log_change(const struct vm *before, const struct vm *after, int64_t now_ns)
{
	const struct vm_marks then = vm_marks(before), now = vm_marks(after);
	uint32_t news = vm_news(&then, &now);

	log_rare_news(news, then.is_there ? before : NULL, after, now_ns);
	log_usual_news(news, after, now_ns);
}

// Whoever stops the daemon ends its passes.
static bool is_failure(int error)
{
	return error && error != -ERROR_STOPPING;
}

void vm_log_turn(const struct vm_pass_log *health, const struct vm_pass_log *scheduling)
{
	if (is_failure(health->error))
		log_error("vms-health-failed", "error=\"%s\" written=%llu action=\"%s\"",
			error_text(health->error), (unsigned long long)health->changed,
			"the scheduling pass comes all the same; the next turn checks again");
	log_debug("vms-turn",
		"health_workers=%u health_vms=%u health_us=%llu written=%llu "
		"scheduling_workers=%u scheduling_vms=%u scheduling_us=%llu assigned=%llu",
		health->workers, health->vms, (unsigned long long)(health->took_ns / 1000),
		(unsigned long long)health->changed, scheduling->workers, scheduling->vms,
		(unsigned long long)(scheduling->took_ns / 1000),
		(unsigned long long)scheduling->changed);
	if (is_failure(scheduling->error))
		log_error("vms-scheduling-failed", "error=\"%s\" assigned=%llu action=\"%s\"",
			error_text(scheduling->error), (unsigned long long)scheduling->changed,
			"what is assigned stays so; the next turn tries the rest");
}
