// Included before everything else in a build for ThreadSanitizer (-Db_sanitize=thread, see meson.build). liburcu and
// Concurrency Kit order memory with assembler and from libraries that the sanitizer does not see, so that it would
// take every published record for a race. What they promise is told to it here, and no more: who finds a pointer
// sees what was written before it was published, a callback runs after all read sections that began before, who takes
// an item out of a ring sees what was written before it was put in.
#pragma once
#include <stdlib.h>
#include <urcu-qsbr.h>
#include <urcu/compiler.h>
#include <urcu/pointer.h>
#include <urcu/system.h>
#include <urcu/uatomic.h>

void __tsan_acquire(void *);
void __tsan_release(void *);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

// --- Pointers ------------------------------------------------------------------------------------

#undef uatomic_xchg
#define uatomic_xchg(where, what) __atomic_exchange_n(where, what, __ATOMIC_SEQ_CST)
#undef CMM_STORE_SHARED
#define CMM_STORE_SHARED(where, what) __atomic_store_n(&(where), what, __ATOMIC_RELEASE)
#undef rcu_dereference
#define rcu_dereference(where) __atomic_load_n(&(where), __ATOMIC_ACQUIRE)
#undef rcu_set_pointer
#define rcu_set_pointer(where, what) __atomic_store_n(where, what, __ATOMIC_RELEASE)

// Those that use what was just defined. An item that is left over when its neighbour goes was published before.
#include <urcu/rculfhash.h>
#include <urcu/rculist.h>

// --- Grace periods -------------------------------------------------------------------------------

// One of each for the whole program.
__attribute__((weak)) char tsan_read_sections, tsan_callbacks;

struct tsan_callback {
	struct rcu_head head;
	struct rcu_head *of;
	void (*call)(struct rcu_head *);
};

static inline void tsan_run_callback(struct rcu_head *head)
{
	struct tsan_callback *callback = caa_container_of(head, struct tsan_callback, head);

	__tsan_acquire(&tsan_read_sections);
	callback->call(callback->of);
	free(callback);
	__tsan_release(&tsan_callbacks);
}

static inline void tsan_call_rcu(struct rcu_head *head, void (*call)(struct rcu_head *))
{
	struct tsan_callback *callback = malloc(sizeof *callback);

	if (!callback)
		abort();
	callback->of = head;
	callback->call = call;
	__tsan_release(&tsan_read_sections);
	urcu_qsbr_call_rcu(&callback->head, tsan_run_callback);
}

static inline void tsan_rcu_barrier(void)
{
	urcu_qsbr_barrier();
	__tsan_acquire(&tsan_callbacks);
}

static inline void tsan_synchronize_rcu(void)
{
	urcu_qsbr_synchronize_rcu();
	__tsan_acquire(&tsan_read_sections);
}

static inline void tsan_quiescent_state(void)
{
	__tsan_release(&tsan_read_sections);
	urcu_qsbr_quiescent_state();
}

static inline void tsan_thread_offline(void)
{
	__tsan_release(&tsan_read_sections);
	urcu_qsbr_thread_offline();
}

static inline void tsan_unregister_thread(void)
{
	__tsan_release(&tsan_read_sections);
	urcu_qsbr_unregister_thread();
}

#undef call_rcu
#define call_rcu tsan_call_rcu
#undef rcu_barrier
#define rcu_barrier tsan_rcu_barrier
#undef synchronize_rcu
#define synchronize_rcu tsan_synchronize_rcu
#undef rcu_quiescent_state
#define rcu_quiescent_state tsan_quiescent_state
#undef rcu_thread_offline
#define rcu_thread_offline tsan_thread_offline
#undef rcu_unregister_thread
#define rcu_unregister_thread tsan_unregister_thread

// --- Hash tables ---------------------------------------------------------------------------------

static inline void tsan_lfht_add(
	struct cds_lfht *table, unsigned long hash, struct cds_lfht_node *node)
{
	__tsan_release(node);
	cds_lfht_add(table, hash, node);
}

__attribute__((weak)) _Thread_local cds_lfht_match_fct tsan_match;

static inline int tsan_match_added(struct cds_lfht_node *node, const void *key)
{
	__tsan_acquire(node);
	return tsan_match(node, key);
}

static inline void tsan_lfht_lookup(struct cds_lfht *table, unsigned long hash,
	cds_lfht_match_fct match, const void *key, struct cds_lfht_iter *iterator)
{
	tsan_match = match;
	cds_lfht_lookup(table, hash, tsan_match_added, key, iterator);
}

#define cds_lfht_add tsan_lfht_add
#define cds_lfht_lookup tsan_lfht_lookup

// --- Rings ---------------------------------------------------------------------------------------

#include <ck_ring.h>

static inline void tsan_ring_begin(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void tsan_ring_end(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#define TSAN_RING(kind)                                                               \
	static inline bool tsan_ring_enqueue_##kind(                                  \
		struct ck_ring *ring, struct ck_ring_buffer *slots, const void *item) \
	{                                                                             \
		__tsan_release(ring);                                                 \
		tsan_ring_begin();                                                    \
		bool done = ck_ring_enqueue_##kind(ring, slots, item);                \
		tsan_ring_end();                                                      \
		return done;                                                          \
	}                                                                             \
	static inline bool tsan_ring_dequeue_##kind(                                  \
		struct ck_ring *ring, struct ck_ring_buffer *slots, void *item)       \
	{                                                                             \
		tsan_ring_begin();                                                    \
		bool found = ck_ring_dequeue_##kind(ring, slots, item);               \
		tsan_ring_end();                                                      \
		if (found)                                                            \
			__tsan_acquire(ring);                                         \
		return found;                                                         \
	}
TSAN_RING(spsc)
TSAN_RING(mpsc)
#undef TSAN_RING

#define ck_ring_enqueue_spsc tsan_ring_enqueue_spsc
#define ck_ring_dequeue_spsc tsan_ring_dequeue_spsc
#define ck_ring_enqueue_mpsc tsan_ring_enqueue_mpsc
#define ck_ring_dequeue_mpsc tsan_ring_dequeue_mpsc
