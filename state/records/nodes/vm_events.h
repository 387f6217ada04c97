// What is worth telling of a change of a virtual machine: to its own list of events, to the event stream, to the log.
#pragma once
#include "state/base/bytes.h"
#include "state/records/nodes/vm.h"

enum vm_news { // bits
	VM_NEWS_CREATED = 1,
	VM_NEWS_DELETED = 2,
	VM_NEWS_RESTARTED = 4,
	VM_NEWS_SCHEDULED = 8, // it got a worker
	VM_NEWS_STARTED = 16,
	VM_NEWS_FAILED = 32,
	VM_NEWS_RELEASED = 64, // its worker is free of it
	VM_NEWS_POWER = 128,
	VM_NEWS_SPEC = 256, // its user changed something else of it
};

// What news are told by. Two sets of marks may be of different records of one name.
struct vm_marks {
	bool is_there, is_scheduled, is_started;
	int status, power_state;
	struct uuid instance;
	uint64_t restart_count, generation;
	const char *uid; // as long as the record lives
};

struct vm_marks vm_marks(const struct vm *); // NULL, or deleted: it is not there
// Several changes that are published at once are all told. 0: nothing to tell.
uint32_t vm_news(const struct vm_marks *before, const struct vm_marks *now);
// Whether it failed because its worker is gone or silent (rows D22, D23).
bool vm_lost_its_worker(const struct vm *);
// Adds the news since these marks to the machine's own events; "VM restarted" is noted with the restart.
void vm_note_news(struct vm *, const struct vm_marks *before, int64_t now_ns);

// What a worker tells of a machine, packed: for each event i64 time (unix ns), u16 size and kind, u16 size and message.
struct vm_told {
	int64_t time_ns;
	struct text kind, message;
};
void vm_told_put(struct bytes_writer *, const struct vm_told *);
struct vm_told vm_told_take(struct bytes_reader *); // the reader fails on what is not of that form
