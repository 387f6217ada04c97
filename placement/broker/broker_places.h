// The inside of the broker: where evaluations are, and how they move between places. Call under its mutex.
#pragma once
#include "placement/broker/broker_settings.h"
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "state/base/prng.h"
#include <pthread.h>
#include <time.h>
#include <urcu/list.h>

// After the queue of each type: evaluations that reached the delivery limit.
#define QUEUE_FAILED EVAL_TYPES
#define QUEUES (EVAL_TYPES + 1)
#define NEVER UINT64_MAX

enum place {
	PLACE_TIMED,      // until due_ns, then to its queue: a wait, or the pause after a nack
	PLACE_DELAYED,    // until the wall clock shows due_ns
	PLACE_PENDING,    // another evaluation of its job is ready or outstanding
	PLACE_READY,      // in a queue
	PLACE_UNACKED,    // delivered; nacked at due_ns
	PLACE_CANCELABLE, // a newer one of its job was delivered instead
};

// A job with evaluations in the broker.
struct job_turn {
	struct lookup_node by_name;
	struct entry *holder; // the one that is ready, outstanding or paused after a nack
	struct heap pending;
};

struct entry {
	struct evaluation *eval;
	enum place place;
	uint32_t queue;
	uint32_t deliveries;
	struct job_turn *turn; // while it holds the job's turn or waits for it
	struct lookup_node by_id;
	struct heap_node order; // in a queue, or among the pending of its job
	struct heap_node due;   // in timers or delays
	uint64_t due_ns;
	uint64_t token;             // of the delivery; 0: not outstanding
	uint64_t yielded_index;     // of the state when it last yielded; 0: never
	struct evaluation *requeue; // to be enqueued after the ack (B33)
	struct entry *next;         // cancelable
};

// A thread in broker_dequeue(). Lasts as long as the broker, for the next one that sleeps.
struct sleeper {
	struct cds_list_head link; // of those that sleep, that are to be told, or that nobody uses
	uint32_t types;            // that it takes
	bool is_woken;
	pthread_cond_t woken;
};

struct broker {
	struct broker_settings settings;
	pthread_mutex_t mutex;
	pthread_condattr_t monotonic;
	// struct sleeper, the newest first: it is woken first, since what it works with is still in the caches.
	struct cds_list_head sleepers;
	struct cds_list_head
		woken; // they are told at the end of the section: whoever wakes wants the mutex
	struct cds_list_head spare_sleepers;
	uint32_t deciding; // dequeued, and not decided yet
	bool is_enabled, is_closed;
	struct prng prng;
	struct lookup evals, turns;
	struct heap queues[QUEUES];
	struct heap timers, delays; // by the monotonic and by the wall clock
	struct entry *cancelable, **cancelable_end;
	struct broker_stats stats;
};

struct entry *entry_find(struct broker *, const struct uuid *);
void entry_free(struct entry *);
// Removes the entry from the table and frees it; it must be in no other place.
void entry_drop(struct broker *, struct entry *);
void job_turn_drop(struct broker *, struct job_turn *);
void broker_init_orders(struct broker *);

// Puts the entry into a place until due_ns. All places but PLACE_UNACKED count as waiting.
void entry_wait_until(struct broker *, struct entry *, enum place, uint64_t due_ns);
// Makes the entry ready in a queue, or pending while another holds its job.
void entry_queue_or_pend(struct broker *, struct entry *, uint32_t queue);
// Gives the turn to the best evaluation that waited for the job; drops the turn when none waits.
void job_turn_promote(struct broker *, struct job_turn *);
// The same after an ack: the other pending evaluations become needless (B31).
void job_turn_release(struct broker *, struct job_turn *);
void entry_end_delivery(struct broker *, struct entry *);
void entry_nack(struct broker *, struct entry *);
// Takes the entry out of its place, which is not PLACE_UNACKED.
void entry_take_out(struct broker *, struct entry *);
void entry_unlist(struct broker *, struct entry *); // a cancelable one
void broker_run_due(struct broker *);
// Those that are woken are told by broker_unlock().
void broker_wake_all(struct broker *);
// Whether one more evaluation may be dequeued.
bool broker_may_deliver(const struct broker *);
// One that became ready wakes one sleeper, who may take another one instead: whoever took one calls this.
void broker_wake_for_ready(struct broker *);
void broker_unlock(struct broker *);
// Sleeps until it is woken or the time has come, while others have the mutex.
void broker_sleep(struct broker *, uint32_t types, const struct timespec *until);
void broker_release_sleepers(struct broker *);
// Monotonic time of the next due entry; NEVER when none is. The wall clock may be set meanwhile, so a long sleeper
// asks again.
uint64_t broker_next_due(struct broker *);

static inline struct entry *entry_of_order(struct heap_node *n)
{
	return CONTAINER_OF(n, struct entry, order);
}
