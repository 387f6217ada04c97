// What every subcommand works with: the command line, and the way to the controller.
#pragma once
#include "tools/berth/cli/flags.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Exit statuses, as documented in berth(1).
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,     // something went wrong here
	STATUS_USAGE = 2,       // the command line is wrong
	STATUS_NOT_FOUND = 3,   // no such thing, or a prefix that is not unique
	STATUS_REFUSED = 4,     // the controller said no: no node, a conflict, an invalid job
	STATUS_UNREACHABLE = 5, // no answer from the controller
};

struct http;

struct session {
	struct flags flags;
	struct http *http;
};

struct command {
	const char *path;      // "node list"
	const char *arguments; // "ID", "FILE", …; for the usage line
	const char *summary;   // one line
	const char *details;   // for --help; may be NULL
	const char *flags;     // names of flags beyond the common ones, separated by blanks
	int least, most;       // positional arguments; most < 0: any number
	enum exit_status (*run)(struct session *, const char **arguments, int count);
};

// Prints "berth: …" with a newline on standard error; returns the status.
enum exit_status complain(enum exit_status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

// --- command_*.c ---------------------------------------------------------------------------------
extern const struct command commands[];
extern const unsigned command_count;

typedef enum exit_status command_run(struct session *, const char **arguments, int count);
command_run node_list, node_status, node_eligibility, node_drain, node_what_if, node_key,
	node_offline, node_online, node_groups;
command_run job_list, job_run, job_plan, job_status, job_history, job_stop, job_eval, job_validate,
	job_inspect, job_revert, job_scale, job_scaling_events, job_dispatch, job_periodic_force,
	job_deployments, job_promote;
command_run deployment_list, deployment_status, deployment_pause, deployment_resume,
	deployment_promote, deployment_fail, deployment_unblock;
command_run alloc_list, alloc_status, alloc_stop;
command_run eval_list, eval_status;
command_run explain_job, explain_alloc, explain_node;
command_run server_members, agent_info, system_gc, system_reconcile, config_get, config_set;
command_run find_status;
command_run place, release, client_allocations;
command_run client_key, key_generate, key_rotate;
command_run simulate_scenario;
command_run machine_create, machine_list, machine_get, machine_delete, machine_stop,
	machine_suspend, machine_events;
command_run worker_list, worker_get, worker_pause, worker_resume, worker_delete;
command_run settings;
command_run stats, health;
