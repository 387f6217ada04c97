// Finds the nodes that have gone silent. Last-heard times are a dense column of milliseconds on the worker's own
// liveness clock, which stands still while the worker is stalled or loses packets: a gap in our own attention extends
// every deadline by the gap and needs no other work.
#pragma once
#include "dataplane/hot/hot_worker.h"

// The clock is frozen for this long after the worker sees that its port lost packets for want of room. The port's
// count is read ten times a second, so an overload keeps the clock frozen while it lasts.
#define LIVENESS_HOLD_MS 200u
// Losses freeze the clock for so long at once, and for half of the time at most: whoever floods the port must not keep
// the dead alive for ever. What a longer overload silences is a mass (hold.h).
#define LIVENESS_LOSS_MS_MAX 60000u
// A worker that hears a down node of another worker arms it as heard this long ago, which is longer than any node
// stays silent unnoticed: the owner reports the return at its next sweep, so that a node's reports leave through one
// ring, in order. So does the owner itself when there is no room for its report.
#define LIVENESS_HEARD_ELSEWHERE_MS (1u << 30)
#define LIVENESS_TTL_MS_MAX (1u << 29)
// A node whose REGISTER had no answer sends the next one within this time (docs/wire.md, Waiting), which it has beside
// the time to live until its next heartbeat.
#define LIVENESS_REGISTER_WAIT_MS 31000u
// Registrations alone are signs of life for so long: a captured one can be sent by anybody.
#define LIVENESS_REGISTERS_MS_MAX 600000u

struct liveness_clock {
	uint64_t last_ns;       // monotonic, at the last tick
	uint64_t elapsed_ns;    // alive time
	uint64_t hold_until_ns; // frozen until then, after packets were lost
	uint64_t lost_ns;       // frozen after losses, less the time that it has run since
	uint64_t missed_seen;   // the port's count of packets lost for want of room
	uint64_t stalled_ns;    // frozen time that is not yet a whole counted millisecond
	uint32_t stall_ms;      // a gap longer than this between ticks is a stall
};

void liveness_clock_start(struct liveness_clock *, uint64_t now_ns, uint32_t stall_ms);
// Advances and returns the clock in ms (never NODE_NOT_ARMED), and publishes it in the counters. A gap
// beyond stall_ms freezes it for that tick, newly missed packets for LIVENESS_HOLD_MS, as far as they may; both are
// counted.
uint32_t liveness_clock_tick(
	struct liveness_clock *, uint64_t now_ns, uint64_t port_missed, struct hot_counters *);

// Sweeps up to slots_budget slots of this worker's blocks from *cursor on, reporting each armed node that
// has been silent for more than ttl_ms (at most LIVENESS_TTL_MS_MAX): once reported it is disarmed and
// NODE_LINE_DOWN. No more are reported than the worker's hold lets pass. Each round also counts the armed
// nodes and the silent ones, for the holds of all workers. Call only when the receive queue has just been
// drained. Returns slots swept; wraps around, and ends early after one round.
uint32_t liveness_sweep(struct hot_worker *, uint32_t *cursor, uint32_t slots_budget);

// An authentic registration came of the node with that slot and generation; is_again: the one that the generation is
// of. It is a sign of life of a node that is armed, and for a limited time; sent again, only until the first heartbeat,
// which tells that the node has its answer.
void liveness_registers(struct hot_worker *, uint32_t slot, uint32_t generation, bool is_again);
// When a node that this worker hears was heard, on the clock of the worker that owns it.
uint32_t liveness_heard_ms(const struct hot_worker *, uint32_t slot);

// Arms a slot as heard at now (or in the future: a grace period). Owning worker, or before workers run.
void liveness_arm(struct node_table *, uint32_t slot, uint32_t heard_ms);
void liveness_disarm(struct node_table *, uint32_t slot);
