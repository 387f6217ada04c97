// The reference of the placement benchmark: finds the best node by looking at all of them, once as plainly as can be,
// once as fast as AVX-512 allows. Both answer exactly as placement does.
#pragma once
#include "placement/direct/placement.h"
#include <stdbool.h>
#include <stdint.h>

struct scan {
	enum placement_algorithm algorithm;
	uint32_t nodes;
	uint32_t *cpu_free, *memory_free, *disk_free;
	float *cpu_inverse, *memory_inverse; // 1 / capacity
	struct resources *capacity;          // read only for nodes that come close
};

struct scan_answer {
	uint32_t slot; // scan.nodes: none
	double score;
};

struct scan scan_create(enum placement_algorithm, uint32_t nodes);
void scan_destroy(struct scan *);
void scan_set(struct scan *, uint32_t slot, struct resources capacity, struct resources used);
bool scan_has_avx512(void);
struct scan_answer scan_best_avx512(const struct scan *, struct resources ask);
struct scan_answer scan_best_plain(const struct scan *, struct resources ask);
