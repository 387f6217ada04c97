// How a simulated node describes itself: a pure function of seed, index and shapes, so that two runs with the same seed
// are the same fleet.
#pragma once
#include "dataplane/wire/wire.h"
#include "tools/options/flags.h"

#define SHAPES_MAX 64u
#define DATACENTERS_MAX 16u

struct shape {
	char class_name[64];
	uint32_t weight;
	uint32_t cpu_mhz, memory_mb, disk_mb;
	uint32_t gpus;
	char gpu_model[64];
};

// Nodes that run machines, and their additional description.
struct shape_vm_workers {
	uint64_t first;
	uint32_t count;
	struct flag_list resources, labels; // "NAME=NUMBER", "NAME=VALUE"
	uint32_t default_cpu, default_memory_mib;
};

struct shapes {
	uint64_t seed;
	uint32_t count;
	struct shape list[SHAPES_MAX];
	uint32_t datacenter_count;
	char datacenters[DATACENTERS_MAX][64];
	uint32_t attributes; // of a node; a real one has 45
	// If not NULL, node i has shape of_node[i] instead of one drawn by weight.
	const uint16_t *of_node;
	const char *name_prefix; // node i is "<prefix><i>"
	struct shape_vm_workers workers;
};

// "CLASS=WEIGHT,CPU,MEMORY,DISK[,GPUS[,MODEL]]"; amounts in MHz and MB. False for other text.
bool shape_parse(const char *text, struct shape *);

struct uuid shape_node_id(uint64_t seed, uint64_t index);
const struct shape *shape_of(const struct shapes *, uint64_t index);

struct shape_text {
	uint32_t used;
	char data[16 * 1024];
};
// Describes node index. Texts lie in text (and in shapes).
void shape_describe(
	const struct shapes *, uint64_t index, struct wire_register *, struct shape_text *);
