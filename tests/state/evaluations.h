// Jobs that schedulers work for, and what schedulers tell the applier.
#pragma once
#include "state/records/evaluation.h"
#include "state/records/plan.h"
#include "tests/support/controller.h"

// A job of one group "g0" for every datacenter; the caller's until registered.
struct job *build_scheduled_job(const char *id, enum job_type);
// Registers it; what was made is in result, which may be NULL.
enum command_outcome register_job(
	struct controller *, struct job *, struct command_job_register *result);
// Stores it (taken over unless refused).
enum command_outcome store_evaluation(struct controller *, struct evaluation *);
// A pending evaluation of a job, number 1 … of a test.
struct evaluation *build_evaluation(uint32_t number, const char *job, enum eval_status);
// The published one changed to this status and stored.
enum command_outcome change_evaluation(struct controller *, const struct uuid *, enum eval_status);
// Copy of what is published, or NULL; the caller frees.
struct evaluation *published_evaluation(const struct controller *, const struct uuid *);
// What a scheduler would commit for the evaluation: one new allocation, number 1 … of a test, of the
// job's newest version; or the end of one.
enum command_outcome place_one(struct controller *, const struct uuid *eval, const char *job,
	const struct node_registration *node, uint32_t number);
enum command_outcome stop_one(struct controller *, const struct uuid *eval, const char *job,
	uint32_t number, enum stop_cause);
struct uuid placed_id(uint32_t number);
// What the node says of it.
enum command_outcome report_one(struct controller *, const struct node_registration *node,
	uint32_t number, enum alloc_client status);
int job_status(const struct controller *, const char *job); // -1: not there
uint32_t count_evaluations(const struct controller *, const char *job, enum eval_trigger);
void advance_ms(struct controller *, uint64_t ms);
// A controller that has replayed the log of another, and one that has loaded its image: both verified
// and with the same image. Frees nothing of the other.
void expect_restores(const struct controller *);
