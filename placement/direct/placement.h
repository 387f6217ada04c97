// The fast path of placement: the exact best of all feasible nodes for one more instance of a direct job's group,
// found without reading every node.
//
// Scores are Nomad's (docs/spec/scoring.md): with capacity C, M after reserved and use c, m including the new
// instance, t = 10^(1-c/C) + 10^(1-m/M); binpack (20-t)/18, spread (t-2)/18, clamped to [0, 1].
#pragma once
#include "state/tables/placer.h"
#include "state/tables/state.h"

enum placement_algorithm { PLACEMENT_BINPACK, PLACEMENT_SPREAD };

struct placement;

struct placement_counters {
	_Atomic uint64_t decisions, refusals, scans; // scans: decisions that read every node
};

// Applier thread (placement lives on it); state must outlive it. Caller destroys.
struct placement *placement_create(struct state *, enum placement_algorithm);
void placement_destroy(struct placement *);
struct placer placement_placer(struct placement *);
const struct placement_counters *placement_counters(const struct placement *);

// The score of a node with this capacity when `used` (the new instance included) is taken. Capacity of 0
// in a dimension scores as fully used.
double placement_score(enum placement_algorithm, struct resources capacity, struct resources used);
