// Commands by their type; decide.c holds the rows. Each function decides its command: it commits entries and fills in
// the results.
#pragma once
#include "state/log/command.h"

struct decider;

const char *command_type_name(enum command_type); // "node-register", …

enum command_outcome decide_alloc_stop(struct decider *, struct command *);
enum command_outcome decide_alloc_transitions(struct decider *, struct command *);
enum command_outcome decide_alloc_update(struct decider *, struct command *);
enum command_outcome decide_cluster_settings(struct decider *, struct command *);
enum command_outcome decide_collect(struct decider *, struct command *);
enum command_outcome decide_deployment(struct decider *, struct command *);
enum command_outcome decide_evaluations(struct decider *, struct command *);
enum command_outcome decide_evaluations_delete(struct decider *, struct command *);
enum command_outcome decide_gc(struct decider *, struct command *);
enum command_outcome decide_job_child(struct decider *, struct command *);
enum command_outcome decide_job_deregister(struct decider *, struct command *);
enum command_outcome decide_job_evaluate(struct decider *, struct command *);
enum command_outcome decide_job_register(struct decider *, struct command *);
enum command_outcome decide_job_revert(struct decider *, struct command *);
enum command_outcome decide_job_scale(struct decider *, struct command *);
enum command_outcome decide_job_stable(struct decider *, struct command *);
enum command_outcome decide_node_drain(struct decider *, struct command *);
enum command_outcome decide_node_eligibility(struct decider *, struct command *);
enum command_outcome decide_node_evaluate(struct decider *, struct command *);
enum command_outcome decide_node_metadata(struct decider *, struct command *);
enum command_outcome decide_node_standing(struct decider *, struct command *);
enum command_outcome decide_node_pool(struct decider *, struct command *);
enum command_outcome decide_node_pool_delete(struct decider *, struct command *);
enum command_outcome decide_node_purge(struct decider *, struct command *);
enum command_outcome decide_node_register(struct decider *, struct command *);
enum command_outcome decide_node_status(struct decider *, struct command *);
enum command_outcome decide_place(struct decider *, struct command *);
enum command_outcome decide_plan(struct decider *, struct command *);
enum command_outcome decide_release(struct decider *, struct command *);
enum command_outcome decide_scheduler_config(struct decider *, struct command *);
enum command_outcome decide_status(struct decider *, struct command *);
enum command_outcome decide_vm_assign(struct decider *, struct command *);
enum command_outcome decide_vm_create(struct decider *, struct command *);
enum command_outcome decide_vm_delete(struct decider *, struct command *);
enum command_outcome decide_vm_health(struct decider *, struct command *);
enum command_outcome decide_vm_power(struct decider *, struct command *);
enum command_outcome decide_vm_report(struct decider *, struct command *);
enum command_outcome decide_vm_tell(struct decider *, struct command *);
enum command_outcome decide_vm_worker(struct decider *, struct command *);
enum command_outcome decide_vm_worker_delete(struct decider *, struct command *);
enum command_outcome decide_vm_worker_pause(struct decider *, struct command *);
