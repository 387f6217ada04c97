// The evaluation broker (rows B24–B39, docs/spec/evaluations.md): decides which evaluation is delivered next, to
// whom, and what happens when nobody acks it. Thread-safe; time only through the time source: broker_tick() and every
// other call act on what is due.
#pragma once
#include "placement/broker/broker_settings.h"

struct broker;

struct broker *broker_create(const struct broker_settings *);
void broker_destroy(struct broker *);
// Disabling forgets everything; dequeue then waits in vain. Created disabled.
void broker_set_enabled(struct broker *, bool);
// Disables for good: every dequeue returns, now and later.
void broker_close(struct broker *);

// Copies the evaluation. token 0: none (B33). docs/spec/evaluations.md tells what happens to waiting, delayed and
// duplicate ones.
void broker_enqueue(struct broker *, const struct evaluation *, uint64_t token);

// types: a bit per enum eval_type. Waits at most timeout_ms. NULL: no evaluation came (or disabled). The caller frees
// the copy, and calls broker_decided() once for it. Of the threads that wait the last one comes first: what it works
// with is still in the caches.
struct evaluation *broker_dequeue(struct broker *, uint32_t types, uint32_t timeout_ms,
	uint64_t *token, uint64_t *wait_index);
// Another thread may be given an evaluation: this one waits for its plan, or is done.
void broker_decided(struct broker *);
// 0, or -ERROR_NOT_FOUND ("Evaluation ID not found"), -ERROR_TOKEN ("Token does not match for Evaluation ID"),
// -ERROR_LATE ("Evaluation ID Ack'd after Nack timer expiration"); broker_error_text() has the texts.
int broker_ack(struct broker *, const struct uuid *, uint64_t token);
int broker_nack(struct broker *, const struct uuid *, uint64_t token);
const char *broker_error_text(int error);
// Ends a delivery in which a part of the work was done: the evaluation keeps its job, has no deliveries on its account
// and is ready again, behind everything of its priority that was created before index. Returns what an ack returns.
int broker_yield(struct broker *, const struct uuid *, uint64_t token, uint64_t index);
// Whether an evaluation of this priority or a higher one is ready.
bool broker_has_rival(struct broker *, int64_t priority);
// B36: whether the evaluation is outstanding with this token; restarts its nack timer. 0, -ERROR_NOT_FOUND,
// -ERROR_TOKEN, -ERROR_LATE ("evaluation is not outstanding", "evaluation token does not match", "evaluation nack
// timeout reached").
int broker_outstanding(struct broker *, const struct uuid *, uint64_t token);
const char *broker_outstanding_text(int error);
// B37: stops the nack timer while a plan of the evaluation waits.
void broker_pause_nack(struct broker *, const struct uuid *, uint64_t token);
void broker_resume_nack(struct broker *, const struct uuid *, uint64_t token);

// Forgets an evaluation that ended otherwise (canceled, collected), unless it is outstanding.
void broker_forget(struct broker *, const struct uuid *);

// Acts on due timers: nacks, waits, delays. Returns when to call it next (monotonic ns), UINT64_MAX: after a change.
uint64_t broker_tick(struct broker *);
// Whether one of the next two has something to take.
bool broker_has_chores(struct broker *);
// At most count evaluations that newer ones of their job made needless (B31). Caller frees.
uint32_t broker_take_cancelable(struct broker *, struct evaluation **, uint32_t count);
// Takes an evaluation that reached the delivery limit (B35), with a token like a delivery. Caller frees.
struct evaluation *broker_take_failed(struct broker *, uint64_t *token);

void broker_stats(struct broker *, struct broker_stats *);

// At most room evaluations that wait for their own time, in no order. Returns how many wait.
struct broker_delayed {
	struct uuid id;
	char *namespace_name, *job_id; // the caller frees
	int64_t due_in_ns;
};
uint32_t broker_delayed(struct broker *, struct broker_delayed *, uint32_t room);
