#include "bench/naive/naive_system.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTES 45u
#define CPU_MHZ 166000.0
#define MEMORY_MB 260000.0
#define ASK_CPU_MHZ 100
#define ASK_MEMORY_MB 64

struct pair {
	char *name, *value;
};

struct record {
	struct record *next_on_node, *next;
	struct uuid id;
	char *name, *job, *group, *node_name, *client_status, *desired_status;
	uint32_t node, cpu_mhz, memory_mb;
	double score;
	uint64_t create_index, modify_index;
};

struct naive_node {
	char *datacenter, *name;
	struct pair attributes[ATTRIBUTES];
	struct record *allocations;
};

struct naive_fleet {
	uint32_t count;
	struct naive_node *nodes;
	struct record *records;
	struct prng prng;
	uint64_t index;
};

static char *numbered(const char *prefix, uint32_t number)
{
	char text[64];
	snprintf(text, sizeof text, "%s%08u", prefix, number);
	return text_copy(text_of(text));
}

struct naive_fleet *naive_create(uint32_t nodes)
{
	struct naive_fleet *f = memory_take(sizeof *f);

	prng_seed(&f->prng, 1);
	f->count = nodes;
	f->nodes = memory_take_array(nodes, sizeof f->nodes[0]);
	for (uint32_t n = 0; n < nodes; n++) {
		f->nodes[n].datacenter = text_copy(TEXT("dc1"));
		f->nodes[n].name = numbered("node-", n);
		for (uint32_t a = 0; a < ATTRIBUTES; a++)
			f->nodes[n].attributes[a] =
				(struct pair){numbered("platform.attribute-", a), numbered("", a)};
		free(f->nodes[n].attributes[ATTRIBUTES / 2].name);
		f->nodes[n].attributes[ATTRIBUTES / 2].name = text_copy(TEXT("driver.raw_exec"));
	}
	return f;
}

static void free_record(struct record *r)
{
	free(r->name);
	free(r->job);
	free(r->group);
	free(r->node_name);
	free(r->client_status);
	free(r->desired_status);
	free(r);
}

void naive_destroy(struct naive_fleet *f)
{
	for (struct record *r = f->records, *next; r; r = next) {
		next = r->next;
		free_record(r);
	}
	for (uint32_t n = 0; n < f->count; n++) {
		for (uint32_t a = 0; a < ATTRIBUTES; a++) {
			free(f->nodes[n].attributes[a].name);
			free(f->nodes[n].attributes[a].value);
		}
		free(f->nodes[n].datacenter);
		free(f->nodes[n].name);
	}
	free(f->nodes);
	free(f);
}

static bool has_driver(const struct naive_node *node)
{
	for (uint32_t a = 0; a < ATTRIBUTES; a++)
		if (strcmp(node->attributes[a].name, "driver.raw_exec") == 0)
			return true;
	return false;
}

// The score of the fullest node that fits; negative: no room.
static double fit(const struct naive_node *node)
{
	double cpu = ASK_CPU_MHZ, memory = ASK_MEMORY_MB;

	for (const struct record *r = node->allocations; r; r = r->next_on_node) {
		cpu += r->cpu_mhz;
		memory += r->memory_mb;
	}
	if (cpu > CPU_MHZ || memory > MEMORY_MB)
		return -1;
	return 20 - (pow(10, 1 - cpu / CPU_MHZ) + pow(10, 1 - memory / MEMORY_MB));
}

static void place(struct naive_fleet *f, uint32_t n, const char *job, double score)
{
	struct naive_node *node = &f->nodes[n];
	struct record *r = memory_take(sizeof *r);
	char name[128];

	snprintf(name, sizeof name, "%s.g[0]", job);
	*r = (struct record){.next_on_node = node->allocations,
		.next = f->records,
		.id = prng_uuid(&f->prng),
		.name = text_copy(text_of(name)),
		.job = text_copy(text_of(job)),
		.group = text_copy(TEXT("g")),
		.node_name = text_copy(text_of(node->name)),
		.client_status = text_copy(TEXT("pending")),
		.desired_status = text_copy(TEXT("run")),
		.node = n,
		.cpu_mhz = ASK_CPU_MHZ,
		.memory_mb = ASK_MEMORY_MB,
		.score = score,
		.create_index = f->index,
		.modify_index = f->index};
	node->allocations = f->records = r;
}

uint32_t naive_place(struct naive_fleet *f, const char *job)
{
	uint32_t placed = 0;

	f->index++;
	for (uint32_t n = 0; n < f->count; n++) {
		const struct naive_node *node = &f->nodes[n];
		if (strcmp(node->datacenter, "dc1") != 0 || !has_driver(node))
			continue;
		double score = fit(node);
		if (score < 0)
			continue;
		place(f, n, job, score);
		placed++;
	}
	return placed;
}

// The records of the job are the newest on their nodes, and the newest of all.
void naive_remove(struct naive_fleet *f, const char *job)
{
	while (f->records && strcmp(f->records->job, job) == 0) {
		struct record *r = f->records;
		f->records = r->next;
		f->nodes[r->node].allocations = r->next_on_node;
		free_record(r);
	}
}
