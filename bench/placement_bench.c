// Placement decisions per second, each the exact best of the whole fleet and followed by its changes (the node takes
// the instance, and now and then another gives one back), against a linear scan of all nodes, with AVX-512 where
// available and plain. Both sides run the same asks on fleets of their own and must give the same answers, which is
// checked before anything is timed.
#include "bench/harness/bench.h"
#include "bench/naive/placement_scan.h"
#include "placement/direct/candidate_cache.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOBS 8u
#define CLASSES 5u
#define LIVE_MOST 100000u
#define DISK_MB 200000u

enum workload { REPEATED, RANDOM };

static const struct resources shapes[] = {{8000, 16384, DISK_MB}, {16000, 32768, DISK_MB},
	{16000, 65536, DISK_MB}, {32000, 65536, DISK_MB}, {32000, 131072, DISK_MB},
	{32000, 262144, DISK_MB}, {48000, 131072, DISK_MB}, {64000, 131072, DISK_MB},
	{64000, 262144, DISK_MB}, {64000, 524288, DISK_MB}, {96000, 393216, DISK_MB},
	{96000, 786432, DISK_MB}, {104000, 524288, DISK_MB}, {128000, 524288, DISK_MB},
	{128000, 1048576, DISK_MB}};
static const struct resources job_asks[JOBS] = {{500, 256, 300}, {1000, 2048, 300},
	{2000, 4096, 1000}, {4000, 8192, 300}, {250, 512, 100}, {8000, 16384, 5000}, {100, 128, 10},
	{3000, 20000, 300}};

struct live { // an instance that will be given back
	uint32_t slot;
	struct resources ask;
};

struct side;
typedef struct scan_answer side_best(struct side *, uint32_t job, struct resources ask);
typedef void side_set(struct side *, uint32_t slot);

// A fleet and the code that finds its best node.
struct side {
	enum placement_algorithm algorithm;
	uint32_t nodes;
	struct prng prng;
	struct resources *capacity, *used;
	struct live *live;
	uint32_t live_count;
	uint64_t refused;
	side_best *best;
	side_set *set;
	struct scan scan;
	struct fit_index *index;
	struct candidate_cache *caches[JOBS];
	struct job *jobs[JOBS];
};

static const struct node_class *class_at(void *context, uint32_t id)
{
	static struct node_class classes[CLASSES];
	classes[id] = (struct node_class){.id = id, .datacenter = "dc1", .pool = "default"};
	return &classes[id];
}
static const struct node *node_at(void *context, uint32_t slot)
{
	return NULL; // no constraint here looks at single nodes
}

static void index_set(struct side *s, uint32_t slot)
{
	struct fit_input in = {
		s->capacity[slot], s->used[slot], slot % CLASSES, slot % CLASSES + 1, 1, {0}, true};
	fit_index_set(s->index, slot, &in);
}

static struct scan_answer none(const struct side *s)
{
	return (struct scan_answer){s->nodes, -1.0};
}

static struct scan_answer candidate_cache_side(struct side *s, uint32_t job, struct resources ask)
{
	struct fit_candidate c;
	return candidate_cache_best(s->caches[job], &c) ? (struct scan_answer){c.slot, c.score}
							: none(s);
}

// Searches without anything kept from earlier decisions, as for an ask that was never seen before.
static struct scan_answer search_side(struct side *s, uint32_t job, struct resources ask)
{
	struct fit_query query = {ask.cpu_mhz, ask.memory_mb, ask.disk_mb, .class_bits = ~0ull};
	struct fit_candidate c;
	if (fit_tree_search(fit_index_tree(s->index), &query, 1, &c) == 0)
		return none(s);
	return (struct scan_answer){c.slot, fit_candidate_score(s->algorithm, &query, &c)};
}

static void make_jobs(struct side *s)
{
	struct candidate_source source = {class_at, node_at, s};
	for (uint32_t i = 0; i < JOBS; i++) {
		struct job *job = job_create();
		job->type = JOB_DIRECT;
		struct task_group *group = array_append(&job->task_groups, sizeof *group);
		record_init(&task_group_description, group);
		struct task *task = array_append(&group->tasks, sizeof *task);
		record_init(&task_description, task);
		task->resources.cpu = job_asks[i].cpu_mhz;
		task->resources.memory_mb = job_asks[i].memory_mb;
		group->disk.size_mb = job_asks[i].disk_mb;
		CHECK(job_derive(job));
		s->jobs[i] = job;
		s->caches[i] = candidate_cache_create(s->index, &source, job, 0);
	}
}

static side_best *subject_best(enum workload workload)
{
	return workload == RANDOM ? search_side : candidate_cache_side;
}

static void columns_set(struct side *s, uint32_t slot)
{
	scan_set(&s->scan, slot, s->capacity[slot], s->used[slot]);
}
static struct scan_answer wide_side(struct side *s, uint32_t job, struct resources ask)
{
	return scan_best_avx512(&s->scan, ask);
}
static struct scan_answer plain_side(struct side *s, uint32_t job, struct resources ask)
{
	return scan_best_plain(&s->scan, ask);
}

static void fill(struct side *s)
{
	for (uint32_t i = 0; i < s->nodes; i++) {
		s->capacity[i] = shapes[prng_below(&s->prng, sizeof shapes / sizeof shapes[0])];
		double load = prng_unit(&s->prng), other = prng_unit(&s->prng);
		s->used[i] = (struct resources){(uint32_t)(load * s->capacity[i].cpu_mhz),
			(uint32_t)((0.7 * load + 0.3 * other) * s->capacity[i].memory_mb),
			(uint32_t)(other * DISK_MB)};
		s->set(s, i);
	}
}

static void side_open(struct side *s, enum placement_algorithm algorithm, uint32_t nodes,
	side_best *best, bool is_subject)
{
	*s = (struct side){.algorithm = algorithm,
		.nodes = nodes,
		.best = best,
		.set = is_subject ? index_set : columns_set};
	prng_seed(&s->prng, 1);
	s->capacity = memory_take_array(nodes, sizeof *s->capacity);
	s->used = memory_take_array(nodes, sizeof *s->used);
	s->live = memory_take_array(LIVE_MOST, sizeof *s->live);
	if (is_subject) {
		s->index = fit_index_create(algorithm);
		make_jobs(s);
	} else {
		s->scan = scan_create(algorithm, nodes);
	}
	fill(s);
}

static void side_close(struct side *s)
{
	for (uint32_t i = 0; s->index && i < JOBS; i++) {
		candidate_cache_destroy(s->caches[i]);
		job_free(s->jobs[i]);
	}
	fit_index_destroy(s->index);
	if (!s->index)
		scan_destroy(&s->scan);
	free(s->capacity);
	free(s->used);
	free(s->live);
}

static void give_back(struct side *s, uint32_t i)
{
	struct live l = s->live[i];
	s->live[i] = s->live[--s->live_count];
	s->used[l.slot] = resources_minus(s->used[l.slot], l.ask);
	s->set(s, l.slot);
}

static struct scan_answer decide(struct side *s, enum workload workload)
{
	uint32_t job = (uint32_t)prng_below(&s->prng, JOBS);
	struct resources ask = job_asks[job];
	if (workload == RANDOM)
		ask = (struct resources){100 + (uint32_t)prng_below(&s->prng, 8000),
			128 + (uint32_t)prng_below(&s->prng, 32000),
			(uint32_t)prng_below(&s->prng, 2000)};
	struct scan_answer a = s->best(s, job, ask);
	// Gives back as much as is taken, so that the fleet stays as full as it was.
	uint32_t bound = s->nodes / 4 < LIVE_MOST ? s->nodes / 4 : LIVE_MOST;
	if (s->live_count > 0 && (s->live_count >= bound || a.slot == s->nodes))
		give_back(s, (uint32_t)prng_below(&s->prng, s->live_count));
	if (a.slot == s->nodes) {
		s->refused++;
		return a;
	}
	s->used[a.slot] = resources_plus(s->used[a.slot], ask);
	s->set(s, a.slot);
	s->live[s->live_count++] = (struct live){a.slot, ask};
	return a;
}

// Checks that the three give the same answers, one decision after the other.
static void check(enum placement_algorithm algorithm, uint32_t nodes, enum workload workload,
	uint32_t decisions)
{
	struct side subject, wide, plain;
	side_open(&subject, algorithm, nodes, subject_best(workload), true);
	side_open(&wide, algorithm, nodes, wide_side, false);
	side_open(&plain, algorithm, nodes, plain_side, false);
	for (uint32_t i = 0; i < decisions; i++) {
		struct scan_answer a = decide(&subject, workload), b = decide(&plain, workload);
		CHECK(a.slot == b.slot && a.score == b.score);
		if (scan_has_avx512()) {
			b = decide(&wide, workload);
			CHECK(a.slot == b.slot && a.score == b.score);
		}
	}
	side_close(&subject);
	side_close(&wide);
	side_close(&plain);
}

struct contest {
	enum workload workload;
	struct side subject, reference;
	uint32_t subject_decisions, reference_decisions;
};

// Time of this thread: both sides compute all the time, and other programs do not count.
static uint64_t thread_ns(void)
{
	struct timespec now;
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double rate(struct side *s, enum workload workload, uint32_t decisions)
{
	uint64_t start = thread_ns();
	for (uint32_t i = 0; i < decisions; i++)
		bench_keep(decide(s, workload).slot);
	return 1e9 * decisions / (double)(thread_ns() - start);
}
static double subject_rate(void *context)
{
	struct contest *c = context;
	return rate(&c->subject, c->workload, c->subject_decisions);
}
static double reference_rate(void *context)
{
	struct contest *c = context;
	return rate(&c->reference, c->workload, c->reference_decisions);
}

static uint32_t clamp(uint64_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t)value;
}

// What is measured at each size.
static const struct race {
	const char *name;
	enum placement_algorithm algorithm;
	enum workload workload;
	side_best *reference;
	const char *against;
} races[] = {
	{"placement-repeated", PLACEMENT_BINPACK, REPEATED, wide_side, "AVX-512 scan"},
	{"placement-random", PLACEMENT_BINPACK, RANDOM, wide_side, "AVX-512 scan"},
	{"placement-spread-repeated", PLACEMENT_SPREAD, REPEATED, wide_side, "AVX-512 scan"},
	{"placement-spread-random", PLACEMENT_SPREAD, RANDOM, wide_side, "AVX-512 scan"},
	{"placement-repeated-plain", PLACEMENT_BINPACK, REPEATED, plain_side, "plain scan"},
};

static void contest(struct bench *b, uint32_t nodes, const struct race *race)
{
	struct contest c = {.workload = race->workload};
	bool plain = race->reference == plain_side;
	c.subject_decisions = b->smoke ? 200 : 100000;
	// About a tenth of a second of scanning.
	c.reference_decisions =
		b->smoke ? 5 : clamp((plain ? 4000000ull : 100000000ull) / nodes, 5, 100000);
	side_open(&c.subject, race->algorithm, nodes, subject_best(race->workload), true);
	side_open(&c.reference, race->algorithm, nodes, race->reference, false);
	struct bench_result r = {.name = race->name,
		.nodes = nodes,
		.unit = "decisions/s",
		.against = race->against};
	bench_interleave(b, subject_rate, reference_rate, &c, &r);
	bench_report(b, &r);
	side_close(&c.subject);
	side_close(&c.reference);
}

static void run_size(struct bench *b, uint32_t nodes)
{
	uint32_t checked = b->smoke ? 50 : clamp(20000000ull / nodes, 20, 2000);
	for (uint32_t i = 0; i < sizeof races / sizeof races[0]; i++)
		if (races[i].reference != plain_side)
			check(races[i].algorithm, nodes, races[i].workload, checked);
	printf("%u nodes: %u decisions of each kind agree with the naive scan\n", nodes, checked);
	for (uint32_t i = 0; i < sizeof races / sizeof races[0]; i++)
		if (races[i].reference != wide_side || scan_has_avx512())
			contest(b, nodes, &races[i]);
}

int main(int count, char **arguments)
{
	static const uint32_t sizes[] = {1000, 10000, 100000, 1000000};
	struct bench b;
	bench_begin(&b, "placement", count, arguments);
	bench_pin();
	uint64_t only = bench_option(&b, "nodes", 0);
	for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		if (only ? only == sizes[i] : !b.smoke || sizes[i] <= 10000)
			run_size(&b, sizes[i]);
	return bench_end(&b);
}
