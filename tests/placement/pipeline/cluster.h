// A controller with its pipeline, without threads, network and disk, on a clock that stands still: state, applier, log
// in memory, schedulers. A test can kill it and start it again from its log.
#pragma once
#include "state/base/time_source.h"
#include "tests/support/core/builders.h"
#include "tests/support/core/crew.h"
#include "tests/support/memory_log.h"

struct cluster;

// Other parts that watch the state, from before the applier starts until after it stopped.
struct cluster_beside {
	void (*create)(struct cluster *);
	void (*start)(struct cluster *);
	void (*stop)(struct cluster *);
	void (*destroy)(struct cluster *);
};

struct cluster {
	struct manual_time time;
	struct time_source source;
	struct memory_log log;
	struct core core;
	struct crew crew;
	struct state *state; // the core's, as are the next two
	struct command_queue *queue;
	struct applier *applier;
	struct pipeline *pipeline; // the crew's
	uint64_t seed;
	void (*meanwhile)(struct cluster *); // called once, while the pipeline waits for a command
	uint32_t drain_ms;                   // of a stop, with threads; 0: no limit
	uint32_t threads;         // of the schedulers; 0: the calling thread does everything
	uint32_t deciding;        // as in pipeline_settings
	uint32_t processors;      // the same; 0: one for each thread and the applier
	uint32_t evaluations_max; // as in state_limits
	int64_t nack_timeout_ns;  // as in pipeline_settings
	const struct cluster_beside *beside; // may be NULL
	bool is_quiet;                       // all threads have ended
};

void cluster_init(struct cluster *, uint64_t seed);
void cluster_init_limited(struct cluster *, uint64_t seed, uint32_t evaluations_max);
// Runs applier and schedulers on threads of their own, and the real clock.
void cluster_init_threads(struct cluster *, uint32_t threads);
// The same, of which some decide at once; processors as in struct cluster.
void cluster_init_deciding(
	struct cluster *, uint32_t threads, uint32_t deciding, uint32_t processors);
void cluster_init_threads_beside(struct cluster *, uint32_t threads, const struct cluster_beside *);
// Ends all threads; the state stays for inspection.
void cluster_quiesce(struct cluster *);
void cluster_free(struct cluster *);
// Drops everything but the log, and starts again from it.
void cluster_kill(struct cluster *);
// Works until nothing is left to do at this time. Returns evaluations and turns done.
uint32_t cluster_settle(struct cluster *); // without threads
// Moves the clock in small steps, and works at each.
void cluster_advance(struct cluster *, uint64_t ms);
enum command_outcome cluster_run(struct cluster *, struct command *);
// Waits until so many allocations of the job live. With threads.
void cluster_await(struct cluster *, const char *job, uint32_t live);

// Node `number`, ready: 4000 MHz, 8192 MB, driver "exec", datacenter dc1, class by number.
void cluster_node(struct cluster *, uint32_t number);
// Such a node that is also a worker of virtual machines under this name, which may take all of its memory.
void cluster_worker(struct cluster *, uint32_t number, const char *name);
void cluster_node_down(struct cluster *, uint32_t number);
void cluster_node_returned(struct cluster *, uint32_t number);
// Does not wait for the node's end: the caller owns the command and what it points to.
void cluster_push_node_down(struct cluster *, uint32_t number, struct command *);
struct uuid cluster_node_id(uint32_t number);

struct job_ask {
	const char *id;
	int type; // enum job_type
	int64_t cpu, memory_mb, priority;
	int64_t count;                    // 0: 1
	int64_t stagger_ms, max_parallel; // 0: no update block
	const char *version;              // an environment variable of the task
};
void cluster_job(struct cluster *, struct job_ask);
void cluster_stop_job(struct cluster *, const char *id);
// The nodes report that everything has ended that was to stop.
void cluster_stopped(struct cluster *);

struct alloc_counts {
	uint32_t live, stopped, lost, of_version; // of_version: live ones of the newest version
};
struct alloc_counts cluster_allocations(struct cluster *, const char *job);
// Evaluations with this status and trigger; negative: any.
uint32_t cluster_evaluations(struct cluster *, const char *job, int status, int trigger);
// The newest evaluation with this status and trigger. Caller frees; NULL: none.
struct evaluation *cluster_evaluation(struct cluster *, const char *job, int status, int trigger);
// Fails the test when an invariant of the state does not hold.
void cluster_verify(struct cluster *);
