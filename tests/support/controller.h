// A controller without network and disk: state, applier, a log in memory, a placer without policy, and a clock that
// stands still unless a test moves it. Everything runs on the calling thread, or on the applier's own threads after
// controller_start.
#pragma once
#include "state/base/time_source.h"
#include "tests/support/core/builders.h"
#include "tests/support/core/core.h"
#include "tests/support/first_fit.h"
#include "tests/support/memory_log.h"

struct controller {
	struct manual_time time;
	struct time_source source;
	struct memory_log log;
	struct core core;
	struct state *state; // the core's, as are the next two
	struct command_queue *queue;
	struct applier *applier;
	struct placer placer;
	int64_t collect_after_ms;                    // may be changed before open
	int64_t beat_ns;                             // the same
	uint32_t plan_changes_max;                   // the same
	struct rejection_settings rejections;        // the same
	struct standing_limits standing;             // the same
	int64_t vm_offline_after_ns;                 // the same
	bool admits_known;                           // the same
	uint64_t seed;                               // for ids
	int log_error;                               // the error that log_failed got
	struct command *(*next_plan)(void *context); // gives plans; may be changed at any time
	void *plan_context;
};

#define CONTROLLER_WALL_MS 1700000000000ll
#define CONTROLLER_COLLECT_AFTER_MS (60ll * 60 * 1000)

// Sets limits of 0 to middling values. The placer is first fit, and ended records are collected after
// CONTROLLER_COLLECT_AFTER_MS, unless a test changes either before open.
void controller_init(struct controller *, struct state_limits);
// Call it right after init, for a controller that succeeds another and must not give its ids again.
void controller_seed(struct controller *, uint64_t seed);
// Applies batches [0, count) of another controller's log, and compares the publications with that one's; call it before
// open.
int controller_replay(struct controller *, const struct memory_log *, uint32_t count);
// Goes on with the log of another controller, which has an empty one then.
void controller_take_log(struct controller *, struct controller *from);
void controller_open(struct controller *); // a new term
// Starts the applier's own threads, pinned to a CPU or (-1) anywhere.
void controller_start(struct controller *, int cpu);
void controller_free(struct controller *); // refuses waiting commands

// Pushes to the shared ring; `done` counts into the context if that is a uint32_t *.
void controller_push(struct controller *, struct command *, uint32_t *done);
// Waits until so many commands are done, while the applier's threads run.
void controller_await(uint32_t *done, uint32_t count);
// Runs one command from push to done; returns its outcome.
enum command_outcome controller_run(struct controller *, struct command *);
int64_t controller_now_ms(const struct controller *);

// A plain node with two attributes.
void build_node(struct node_registration *, uint32_t number, uint64_t sequence);
// A direct job with one group per ask ("g0", "g1", …), derived; the caller owns it until it is registered.
struct job *build_job(const char *id, const struct resources *asks, uint32_t groups);
// Like build_job, with an ask for devices of type "gpu" in each group (0: none).
struct job *build_device_job(
	const char *id, const struct resources *asks, const uint32_t *gpus, uint32_t groups);

// The node registers, and its first heartbeat comes: it is ready.
enum command_outcome controller_register(
	struct controller *, uint32_t number, struct node_registration *result);
enum command_outcome controller_job(struct controller *, struct job *);
enum command_outcome controller_place(struct controller *, const char *client, const char *job,
	uint64_t request, uint8_t count, struct command_place *result);
enum command_outcome controller_release(
	struct controller *, const struct uuid *, uint8_t count, struct command_release *result);
enum command_outcome controller_node(
	struct controller *, enum command_type, uint32_t slot, uint32_t generation);
enum command_outcome controller_stop_job(struct controller *, const char *job, bool purge);
enum command_outcome controller_collect(struct controller *);

// The whole state as a snapshot holds it, each item after its size; the caller frees.
struct bytes_writer controller_image(const struct controller *);
// Loads such an image into a fresh controller. Returns the load's result.
int controller_load(struct controller *, const struct bytes_writer *image);
// Fails the test at the first violation of an invariant.
void controller_verify(const struct controller *);
