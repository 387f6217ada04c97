// A small fleet and a few jobs without an applier, with the index and caches under test, and the naive scan that they
// must agree with.
#pragma once
#include "placement/direct/candidate_cache.h"
#include "state/base/prng.h"

#define FLEET_NODES_MAX 2048u
#define FLEET_CLASSES_MAX 256u
#define FLEET_JOBS_MAX 12u
#define FLEET_ALLOCATIONS_MAX 8192u

struct fleet_allocation {
	uint32_t slot;
	struct resources resources;
	struct device_set devices;
};

struct fleet_node {
	bool present;
	struct node record;
	char name[32]; // an empty address, and the value of unique.host behind it
	struct resources used;
	struct device_set devices_used;
	uint32_t living;
};

struct fleet {
	struct prng prng;
	enum placement_algorithm algorithm;
	uint32_t slots, class_count, shapes;
	uint32_t stamp;
	struct node_class classes[FLEET_CLASSES_MAX];
	struct attribute attributes[FLEET_CLASSES_MAX][4];
	struct attribute meta[FLEET_CLASSES_MAX][1];
	struct device_group devices[FLEET_CLASSES_MAX][NODE_DEVICE_GROUPS_MAX];
	struct fleet_node nodes[FLEET_NODES_MAX];
	struct fleet_allocation allocations[FLEET_ALLOCATIONS_MAX];
	uint32_t allocation_count;
	struct job *jobs[FLEET_JOBS_MAX];
	struct candidate_cache *caches[FLEET_JOBS_MAX];
	uint32_t job_count;
	struct fit_index *index;
};

struct fleet_answer {
	uint32_t slot; // PLACER_NO_NODE
	double score;
	uint32_t feasible;
	struct place_refusal refusal;
};

struct fleet *fleet_create(
	uint64_t seed, enum placement_algorithm, uint32_t slots, uint32_t classes, uint32_t shapes);
void fleet_destroy(struct fleet *);
void fleet_class_define(struct fleet *, uint32_t node_class); // redefines it at random
bool fleet_class_is_used(const struct fleet *, uint32_t node_class);
void fleet_register(struct fleet *, uint32_t slot); // registers it again at random; its use stays
void fleet_remove(struct fleet *, uint32_t slot);
void fleet_set_status(struct fleet *, uint32_t slot, enum node_status, enum node_eligibility);
// Makes a job of one group with random asks and constraints, and its cache.
void fleet_job_create(struct fleet *, uint32_t job);

struct fleet_answer fleet_naive(const struct fleet *, const struct job *);
struct fleet_answer fleet_ask(struct fleet *, uint32_t job); // the cache's answer
void fleet_allocate(struct fleet *, uint32_t job, uint32_t slot);
void fleet_release(struct fleet *, uint32_t allocation);
