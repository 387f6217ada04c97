// The evaluation broker (rows B24–B39, docs/spec/evaluations.md): which evaluation is worked off next, by whom, and
// what happens when nobody says that it is done. Thread-safe; time only through the time source: what is due is acted
// on by broker_tick() and by every call.
#pragma once
#include "placement/broker/broker_settings.h"

struct broker;

struct broker *broker_create(const struct broker_settings *);
void broker_destroy(struct broker *);
// Disabled: everything is forgotten, dequeue waits in vain. Created disabled.
void broker_set_enabled(struct broker *, bool);
// Disabled for good: whoever waits in dequeue returns, and nobody waits any more.
void broker_close(struct broker *);

// The evaluation is copied. token 0: none (B33). Evaluations that are waiting, delayed or duplicates:
// docs/spec/evaluations.md.
void broker_enqueue(struct broker *, const struct evaluation *, uint64_t token);

// A set of enum eval_type, one bit each. Waits at most timeout_ms. NULL: nothing came (or disabled). The caller
// frees the copy.
struct evaluation *broker_dequeue(struct broker *, uint32_t types, uint32_t timeout_ms,
	uint64_t *token, uint64_t *wait_index);
// 0, or -ERROR_NOT_FOUND ("Evaluation ID not found"), -ERROR_TOKEN ("Token does not match for Evaluation ID"),
// -ERROR_LATE ("Evaluation ID Ack'd after Nack timer expiration"); broker_error_text() has the texts.
int broker_ack(struct broker *, const struct uuid *, uint64_t token);
int broker_nack(struct broker *, const struct uuid *, uint64_t token);
const char *broker_error_text(int error);
// B36: outstanding with this token? Restarts its nack timer. 0, -ERROR_NOT_FOUND, -ERROR_TOKEN, -ERROR_LATE
// ("evaluation is not outstanding", "evaluation token does not match", "evaluation nack timeout reached").
int broker_outstanding(struct broker *, const struct uuid *, uint64_t token);
const char *broker_outstanding_text(int error);
// B37: while its plan waits.
void broker_pause_nack(struct broker *, const struct uuid *, uint64_t token);
void broker_resume_nack(struct broker *, const struct uuid *, uint64_t token);

// It ended otherwise (canceled, collected): forgotten, unless it is outstanding.
void broker_forget(struct broker *, const struct uuid *);

// Timers: nacks, waits, delays. Returns when to be called next (monotonic ns), UINT64_MAX: when something changes.
uint64_t broker_tick(struct broker *);
// Evaluations that newer ones of their job made needless (B31), at most count. Caller frees.
uint32_t broker_take_cancelable(struct broker *, struct evaluation **, uint32_t count);
// From the queue of those that reached the delivery limit (B35), with a token as a delivery. Caller frees.
struct evaluation *broker_take_failed(struct broker *, uint64_t *token);

void broker_stats(struct broker *, struct broker_stats *);

// Evaluations that wait until a time of their own, in no order, at most room.
struct broker_delayed {
	struct uuid id;
	char *namespace_name, *job_id; // the caller frees
	int64_t due_in_ns;
};
uint32_t broker_delayed(struct broker *, struct broker_delayed *, uint32_t room);
