#include "dataplane/hot/liveness.h"
#include "dataplane/hot/line.h"
#include "state/base/time_units.h"

// Words that a sweep checks without a branch: four cache lines of the column.
#define SWEEP_CHUNK 64u

_Static_assert(NODE_BLOCK_SLOTS % SWEEP_CHUNK == 0, "a chunk lies in one block");

void liveness_clock_start(struct liveness_clock *clock, uint64_t now_ns, uint32_t stall_ms)
{
	*clock = (struct liveness_clock){.last_ns = now_ns, .stall_ms = stall_ms};
}

static void count_frozen(
	struct liveness_clock *clock, uint64_t gap_ns, struct hot_counters *counters)
{
	clock->stalled_ns += gap_ns;
	if (clock->stalled_ns < NS_PER_MS)
		return;
	counter_add(&counters->stalled_ms, clock->stalled_ns / NS_PER_MS);
	clock->stalled_ns %= NS_PER_MS;
}

// Whether losses may freeze the clock for that gap; takes it from what they may freeze in all.
static bool may_freeze(struct liveness_clock *clock, uint64_t gap_ns)
{
	bool may = clock->lost_ns + gap_ns <= (uint64_t)LIVENESS_LOSS_MS_MAX * NS_PER_MS;
	if (may)
		clock->lost_ns += gap_ns;
	return may;
}

static void clock_run(struct liveness_clock *clock, uint64_t gap_ns)
{
	clock->elapsed_ns += gap_ns;
	clock->lost_ns -= gap_ns < clock->lost_ns ? gap_ns : clock->lost_ns;
}

uint32_t liveness_clock_tick(struct liveness_clock *clock, uint64_t now_ns, uint64_t port_missed,
	struct hot_counters *counters)
{
	uint64_t gap_ns = now_ns - clock->last_ns;
	clock->last_ns = now_ns;
	bool stalled = gap_ns > (uint64_t)clock->stall_ms * NS_PER_MS;
	bool holding = now_ns < clock->hold_until_ns;
	bool missed = port_missed != clock->missed_seen;
	if (missed) {
		clock->missed_seen = port_missed;
		clock->hold_until_ns = now_ns + (uint64_t)LIVENESS_HOLD_MS * NS_PER_MS;
	}
	if (stalled || (missed && !holding))
		counter_add(&counters->stalls, 1);
	if (stalled || ((missed || holding) && may_freeze(clock, gap_ns)))
		count_frozen(clock, gap_ns, counters);
	else
		clock_run(clock, gap_ns);
	uint32_t ms = clock_value((uint32_t)(clock->elapsed_ns / NS_PER_MS));
	atomic_store_explicit(&counters->clock_ms, ms, memory_order_relaxed);
	return ms;
}

void liveness_arm(struct node_table *table, uint32_t slot, uint32_t heard_ms)
{
	last_heard_set(table, slot, clock_value(heard_ms));
}

void liveness_disarm(struct node_table *table, uint32_t slot)
{
	last_heard_set(table, slot, NODE_NOT_ARMED);
}

// The time until the node counts as silent; negative as a signed number once it does. A time ahead of the clock (a
// grace period) is not silent, and the 32 bits may wrap. Zero when the slot is not armed.
static inline uint32_t time_left(uint32_t heard_ms, uint32_t limit_ms)
{
	return heard_ms == NODE_NOT_ARMED ? 0 : heard_ms - limit_ms;
}

// Reports the return of a node that another worker heard. When its heartbeats are no news any more, this worker has
// heard it in the meantime.
static void bring_back(struct hot_worker *w, uint32_t slot, struct node_line *line)
{
	uint8_t flags = LINE_GET(line->flags);
	if (flags & NODE_LINE_NEWS) {
		uint32_t generation = atomic_load_explicit(&line->generation, memory_order_relaxed);
		if (!w->up.returned(w->up.context, slot, generation)) {
			counter_add(&w->counters->reports_deferred, 1);
			return;
		}
		if (flags & NODE_LINE_DOWN)
			counter_add(&w->counters->returned, 1);
		LINE_SET(line->flags, flags & (uint8_t)~NODE_LINE_NEWS);
	}
	liveness_arm(w->table, slot, w->now_ms);
}

static void expire(struct hot_worker *w, uint32_t slot, struct node_line *line)
{
	uint8_t flags = LINE_GET(line->flags);
	uint32_t generation = atomic_load_explicit(&line->generation, memory_order_relaxed);
	if (generation != 0 && !(flags & NODE_LINE_DOWN)) {
		if (!w->up.expired(w->up.context, slot, generation)) {
			counter_add(&w->counters->reports_deferred, 1);
			return;
		}
		counter_add(&w->counters->expired, 1);
		if (w->hold.is_bounded)
			w->hold.left--;
		LINE_SET(line->flags, flags | NODE_LINE_DOWN);
	}
	liveness_disarm(w->table, slot);
	w->round_nodes--;
	w->round_silent--;
}

static void attend(struct hot_worker *w, uint32_t first, uint32_t end, uint32_t limit_ms)
{
	for (uint32_t slot = first; slot < end; slot++) {
		uint32_t heard_ms = last_heard_get(w->table, slot);
		if ((int32_t)time_left(heard_ms, limit_ms) >= 0)
			continue;
		if (w->now_ms - heard_ms > LIVENESS_TTL_MS_MAX)
			bring_back(w, slot, &w->table->lines[slot]);
		else if (!w->hold.is_bounded || w->hold.left > 0)
			expire(w, slot, &w->table->lines[slot]);
	}
}

// Counts the node of one word of the column. A word that another worker wrote for a down node is not silent.
static inline uint32_t is_silent(uint32_t heard_ms, uint32_t now_ms, uint32_t silent_ms)
{
	return now_ms - heard_ms - silent_ms - 1 < LIVENESS_TTL_MS_MAX - silent_ms &&
	       heard_ms != NODE_NOT_ARMED;
}

// A word of the column, read plainly, so that the compiler may take many at a time: it is aligned, and attend() reads
// it again, atomically. The thread sanitizer is told what it is to the processor.
#ifdef __SANITIZE_THREAD__
#define COLUMN_WORD(column, i) __atomic_load_n(&(column)[i], __ATOMIC_RELAXED)
#else
#define COLUMN_WORD(column, i) ((column)[i])
#endif

static void sweep_slots(struct hot_worker *w, uint32_t first, uint32_t end, uint32_t limit_ms)
{
	uint32_t slot = first, nodes = 0, silent = 0;
	const uint32_t now_ms = w->now_ms, silent_ms = w->ttl_ms / 2;
	for (; slot + SWEEP_CHUNK <= end; slot += SWEEP_CHUNK) {
		const uint32_t *heard_ms = (const uint32_t *)&w->table->last_heard_ms[slot];
		uint32_t any = 0;
		for (uint32_t i = 0; i < SWEEP_CHUNK; i++) {
			uint32_t word_ms = COLUMN_WORD(heard_ms, i);
			any |= time_left(word_ms, limit_ms);
			nodes += word_ms != NODE_NOT_ARMED;
			silent += is_silent(word_ms, now_ms, silent_ms);
		}
		if (__builtin_expect((int32_t)any < 0, 0))
			attend(w, slot, slot + SWEEP_CHUNK, limit_ms);
	}
	for (uint32_t i = slot; i < end; i++) {
		nodes += last_heard_get(w->table, i) != NODE_NOT_ARMED;
		silent += is_silent(last_heard_get(w->table, i), now_ms, silent_ms);
	}
	attend(w, slot, end, limit_ms);
	w->round_nodes += (int32_t)nodes;
	w->round_silent += (int32_t)silent;
}

// A node that another worker heard between count and judgement may have been counted down twice.
static void round_end(struct hot_worker *w)
{
	struct hot_counters *c = w->counters;
	uint32_t nodes = w->round_nodes > 0 ? (uint32_t)w->round_nodes : 0;
	uint32_t silent = w->round_silent > 0 ? (uint32_t)w->round_silent : 0;
	uint64_t expired = atomic_load_explicit(&c->expired, memory_order_relaxed);
	atomic_store_explicit(&c->nodes, nodes, memory_order_relaxed);
	atomic_store_explicit(&c->nodes_silent, silent, memory_order_relaxed);
	atomic_store_explicit(&c->nodes_expired, expired, memory_order_relaxed);
	w->round_nodes = w->round_silent = 0;
}

uint32_t liveness_sweep(struct hot_worker *w, uint32_t *cursor, uint32_t slots_budget)
{
	uint32_t used = atomic_load_explicit(&w->table->slots_used, memory_order_relaxed);
	uint32_t limit_ms = w->now_ms - w->ttl_ms;
	uint32_t swept = 0, passed = 0, slot = *cursor;
	while (swept < slots_budget && passed < used) {
		if (slot >= used) {
			round_end(w);
			slot = 0;
		}
		uint32_t end = (slot / NODE_BLOCK_SLOTS + 1) * NODE_BLOCK_SLOTS;
		if (end > used)
			end = used;
		if (node_table_owner(w->table, slot) == w->number) {
			if (end - slot > slots_budget - swept)
				end = slot + (slots_budget - swept);
			sweep_slots(w, slot, end, limit_ms);
			swept += end - slot;
		}
		passed += end - slot;
		slot = end;
	}
	*cursor = slot;
	return swept;
}

uint32_t liveness_heard_ms(const struct hot_worker *w, uint32_t slot)
{
	uint16_t owner = node_table_owner(w->table, slot);
	if (owner == w->number || w->peers == NULL || owner >= w->peer_count)
		return w->now_ms;
	return atomic_load_explicit(&w->peers[owner]->clock_ms, memory_order_relaxed);
}

void liveness_registers(struct hot_worker *w, uint32_t slot, uint32_t generation, bool is_again)
{
	struct node_line *line = node_table_line(w->table, slot);
	if (line == NULL || (is_again && LINE_GET(line->sequence) != 0) ||
		atomic_load_explicit(&line->generation, memory_order_acquire) != generation ||
		(LINE_GET(line->flags) & NODE_LINE_DOWN) ||
		last_heard_get(w->table, slot) == NODE_NOT_ARMED)
		return;
	uint32_t since_ms = LINE_GET(line->registers_ms);
	if (since_ms == 0)
		LINE_SET(line->registers_ms, clock_value(w->now_ms));
	else if (w->now_ms - since_ms > LIVENESS_REGISTERS_MS_MAX)
		return;
	liveness_arm(w->table, slot, liveness_heard_ms(w, slot) + LIVENESS_REGISTER_WAIT_MS);
}
