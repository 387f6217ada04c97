#include "state/applier/command_queue.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <ck_pr.h>
#include <ck_ring.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// A look and a pause take some 20 ns: shorter than falling asleep and being woken.
#define WATCH_LOOKS 1000u

struct inbox {
	struct ck_ring ring;
	struct ck_ring_buffer slots[COMMAND_RING_SLOTS];
};

struct command_queue {
	uint32_t workers;
	uint32_t next; // inbox to be taken from first, so that none starves; applier only
	// 1 while the applier sleeps or is about to: the thread that sets it to 0 wakes the applier. Has a cache line
	// of its own.
	uint8_t before[64];
	_Atomic uint32_t sleeping;
	_Atomic uint32_t kicked;
	uint8_t after[64];
	struct inbox shared;
	struct inbox inboxes[]; // one per worker
};

struct command_queue *command_queue_create(uint32_t workers)
{
	CHECK(workers <= WORKERS_MAX);
	struct command_queue *q = memory_take(sizeof *q + workers * sizeof q->inboxes[0]);

	q->workers = workers;
	ck_ring_init(&q->shared.ring, COMMAND_RING_SLOTS);
	for (uint32_t i = 0; i < workers; i++)
		ck_ring_init(&q->inboxes[i].ring, COMMAND_RING_SLOTS);
	return q;
}

void command_queue_destroy(struct command_queue *q)
{
	free(q);
}

uint32_t command_queue_workers(const struct command_queue *q)
{
	return q->workers;
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

// The fence pairs with the one in wait: either the applier sees the command, or this thread sees that it sleeps.
static void wake(struct command_queue *q)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&q->sleeping, memory_order_relaxed) == 0)
		return;
	if (atomic_exchange_explicit(&q->sleeping, 0, memory_order_relaxed) == 1)
		(void)futex(&q->sleeping, FUTEX_WAKE_PRIVATE, 1, NULL);
}

bool command_queue_push(struct command_queue *q, uint16_t producer, struct command *command)
{
	bool taken;

	if (producer == COMMAND_PRODUCER_SHARED) {
		taken = ck_ring_enqueue_mpsc(&q->shared.ring, q->shared.slots, command);
	} else {
		HOT_CHECK(producer < q->workers);
		struct inbox *inbox = &q->inboxes[producer];
		taken = ck_ring_enqueue_spsc(&inbox->ring, inbox->slots, command);
	}
	if (taken)
		wake(q);
	return taken;
}

static struct inbox *inbox_at(struct command_queue *q, uint32_t i)
{
	return i < q->workers ? &q->inboxes[i] : &q->shared;
}

static bool take_one(struct command_queue *q, uint32_t i, struct command **command)
{
	struct inbox *inbox = inbox_at(q, i);
	void *taken;
	bool found = i < q->workers ? ck_ring_dequeue_spsc(&inbox->ring, inbox->slots, &taken)
				    : ck_ring_dequeue_mpsc(&inbox->ring, inbox->slots, &taken);
	if (found)
		*command = taken;
	return found;
}

uint32_t command_queue_take(struct command_queue *q, struct command **commands, uint32_t max)
{
	uint32_t count = 0, empty = 0;

	// Takes one command from each inbox in turn, until each was found empty.
	while (count < max && empty <= q->workers) {
		empty = take_one(q, q->next, &commands[count]) ? 0 : empty + 1;
		count += empty == 0;
		q->next = q->next == q->workers ? 0 : q->next + 1;
	}
	return count;
}

bool command_queue_watch(struct command_queue *q)
{
	for (uint32_t i = 0; i < WATCH_LOOKS; i++) {
		if (command_queue_depth(q) > 0 ||
			atomic_load_explicit(&q->kicked, memory_order_relaxed))
			return true;
		ck_pr_stall();
	}
	return false;
}

void command_queue_wait(struct command_queue *q, uint32_t timeout_us)
{
	struct timespec timeout = {
		.tv_sec = timeout_us / US_PER_S,
		.tv_nsec = (long)(timeout_us % US_PER_S) * 1000,
	};

	atomic_store_explicit(&q->sleeping, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (command_queue_depth(q) == 0 && !atomic_load(&q->kicked))
		(void)futex(&q->sleeping, FUTEX_WAIT_PRIVATE, 1, &timeout);
	atomic_store_explicit(&q->sleeping, 0, memory_order_relaxed);
	atomic_store(&q->kicked, 0);
}

void command_queue_kick(struct command_queue *q)
{
	atomic_store(&q->kicked, 1);
	wake(q);
}

uint32_t command_queue_depth(const struct command_queue *q)
{
	uint32_t depth = ck_ring_size(&q->shared.ring);

	for (uint32_t i = 0; i < q->workers; i++)
		depth += ck_ring_size(&q->inboxes[i].ring);
	return depth;
}
