// Who has gone silent. Last-heard times are a dense column of milliseconds on the worker's own liveness
// clock, which does not advance while the worker itself was stalled or losing packets: a gap in our own
// attention extends every deadline by the gap and needs no other work.
#pragma once
#include "dataplane/hot/receive.h"

struct liveness_clock {
	uint64_t last_ns;     // monotonic, at the last tick
	uint64_t elapsed_us;  // alive time
	uint64_t missed_seen; // the port's count of packets lost for want of room
	uint32_t stall_ms;    // a gap longer than this between ticks is a stall
};

void liveness_clock_start(struct liveness_clock *, uint64_t now_ns, uint32_t stall_ms);
// Advances and returns the clock in ms (never 0). A gap beyond stall_ms, or any newly missed packet,
// freezes it for that tick and is counted.
uint32_t liveness_clock_tick(
	struct liveness_clock *, uint64_t now_ns, uint64_t port_missed, struct hot_counters *);

// Sweeps up to slots_budget slots of this worker's blocks from *cursor on, reporting each armed node that
// has been silent for more than ttl_ms. Call only when the receive queue has just been drained. Returns
// slots swept; wraps around.
uint32_t liveness_sweep(struct hot_worker *, uint32_t *cursor, uint32_t slots_budget);

// Arms a slot as heard at now (or in the future: a grace period). Owning worker, or before workers run.
void liveness_arm(struct node_table *, uint32_t slot, uint32_t heard_ms);
