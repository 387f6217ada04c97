// Where a node stands beside its status (rows E1 to E33): healthy, suspended (it awaits readiness, is lost or flaky)
// or offlined by an operator; only healthy ones take new work. Pure transitions, without clock or table: the applier,
// the simulation and the model tests go through the same ones. A node that was forgotten (lost for too long, or
// offlined and then gone) stands nowhere until it is announced again.
//
// Beside it, nodes are grouped by the snapshot that they ran last (node_groups.h).
#pragma once
#include "state/base/time_units.h"
#include <stdbool.h>
#include <stdint.h>

enum node_standing { NODE_HEALTHY, NODE_SUSPENDED, NODE_OFFLINED, NODE_FORGOTTEN, NODE_STANDINGS };
extern const char *const node_standing_names[]; // "healthy" "suspended" "offlined" "forgotten" NULL

enum node_readiness {
	READINESS_GIVEN,     // nothing is awaited
	READINESS_AWAITED,   // its probe is asked again and again
	READINESS_SIGNALLED, // the probe said yes; counts from the next sweep on
	READINESS_GIVEN_UP,  // the probe said no and that it is not to be asked again
};

struct standing {                  // zeros: healthy
	int64_t lost_ns, flaky_ns; // since when (unix); 0: it is not. Never both
	uint8_t readiness;         // enum node_readiness
	bool offlined, forgotten;
	bool unready; // the probe's newest answer was no
};

struct standing_limits {
	int64_t lost_after_ns;  // default a minute: a node lost for longer is forgotten
	int64_t flaky_after_ns; // default 15 minutes: a node flaky for longer may work again
	bool readiness;         // nodes have a probe, which must say yes first
};
#define STANDING_LOST_AFTER_NS (60ll * NS_PER_S)
#define STANDING_FLAKY_AFTER_NS (15 * 60ll * NS_PER_S)
// The limits, with the defaults above in place of zeros.
struct standing_limits standing_limits_or_defaults(const struct standing_limits *);

enum node_standing standing_of(const struct standing *);
// Whether a node can stand so: it is never both lost and flaky, and a forgotten node keeps nothing else.
bool standing_is_sound(const struct standing *);
static inline bool standing_is_ready(const struct standing *l)
{
	return l->readiness == READINESS_GIVEN || l->readiness == READINESS_SIGNALLED;
}

// A node or its operator did something. Returns true when the standing changed.
bool standing_added(struct standing *, bool readiness);   // E4, E5, E7 to E11
bool standing_removed(struct standing *, int64_t now_ns); // E14 to E17
bool standing_online(struct standing *);                  // E12
bool standing_offline(struct standing *);                 // E13
// The probe answered. A no with backoff_ns 0 means that it will not be asked again (E6).
bool standing_probed(struct standing *, bool ready, int64_t backoff_ns);
// A task on the node ended (E24, E25); readiness: probes count.
bool standing_completed(struct standing *, bool flaky, bool readiness, int64_t now_ns);

// What a sweep does with the node (E18 to E20).
enum standing_sweep {
	SWEEP_NOTHING,
	SWEEP_HEALTHY,   // the node is healthy from now on, in the group that it is in
	SWEEP_FORGOTTEN, // the node is to leave its group
	SWEEP_REJOINED, // flaky for long enough: healthy or awaiting readiness again, in the group ""
};
enum standing_sweep standing_swept(
	struct standing *, const struct standing_limits *, int64_t now_ns);
// The first time at which a sweep would do something; INT64_MAX: never by time alone.
int64_t standing_due_ns(const struct standing *, const struct standing_limits *);
