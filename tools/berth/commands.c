// The table of subcommands: help, dispatch and completion come from it.
#include "tools/berth/session.h"

#define WIRE_FLAGS "wire name key-file master-key"
#define NODE_DRAIN_FLAGS                                                           \
	"enable disable monitor dry-run deadline force no-deadline ignore-system " \
	"keep-ineligible m meta yes detach"

const struct command commands[] = {
	{"node list", "", "List nodes.", "With --status only those that are ready, down, …",
		"status", 0, 0, node_list},
	{"node status", "[ID]", "Show a node, its attributes and what runs on it.",
		"ID may be the beginning of an id, as long as only one node has it. Without an id "
		"nodes are\nlisted.",
		"status", 0, 1, node_status},
	{"node eligibility", "ID", "Let a node take new work, or not.",
		"What runs on it goes on. One of --enable and --disable is needed.",
		"enable disable", 1, 1, node_eligibility},
	{"node drain", "ID", "Move everything off a node, or end that.",
		"With --enable the node takes no new work, and what runs on it goes elsewhere, a "
		"few of "
		"each job\nat a time; tells what happens until nothing of it runs there any more, "
		"unless --detach is\ngiven. --monitor follows a drain that was begun before. "
		"--disable ends it where it is. --dry-run says where each allocation would go, "
		"and fails\nwhen something would fit nowhere.",
		NODE_DRAIN_FLAGS, 1, 1, node_drain},
	{"node what-if", "ID", "Say what would become of its allocations if a node died.",
		"Asks the schedulers and changes nothing. Fails when something would fit nowhere.",
		NULL, 1, 1, node_what_if},
	{"node key", "UUID", "Derive a node's key from the master keys.",
		"Prints the line that the node's agent is provisioned with. Needs no controller.",
		"master-key", 1, 1, node_key},
	{"drain", "ID", "As node drain.", "See berth node drain --help.", NODE_DRAIN_FLAGS, 1, 1,
		node_drain},
	{"job list", "", "List jobs.", NULL, NULL, 0, 0, job_list},
	{"job run", "FILE", "Register a job from a JSON file; - is standard input.",
		"The file holds {\"Job\": {…}} or the job alone, with Nomad's field names. Waits "
		"until its\nevaluation is worked off, and tells what happens; with --detach it "
		"only "
		"names it.",
		"check-index detach eval-priority preserve-counts", 1, 1, job_run},
	{"job plan", "FILE", "Say what registering a job would do; change nothing.",
		"Exit status 0: nothing would change, 1: something would.", NULL, 1, 1, job_plan},
	{"job status", "[ID]", "Show a job and its allocations.",
		"Without an id jobs are listed. --verbose shows its evaluations too.", "verbose", 0,
		1, job_status},
	{"job revert", "ID VERSION", "Register an earlier version of a job again.",
		"Waits until it is deployed, unless --detach is given.", "detach", 2, 2,
		job_revert},
	{"job scale", "ID [GROUP] COUNT", "Change how many instances of a group run.",
		"Waits until they are deployed, unless --detach is given.", "detach", 2, 3,
		job_scale},
	{"job scaling-events", "ID", "Show when a job was scaled.", NULL, "verbose", 1, 1,
		job_scaling_events},
	{"job dispatch", "ID [FILE]", "Launch a parameterized job.",
		"The file is its payload; - is standard input. Waits until it is placed, unless "
		"--detach is given.",
		"meta idempotency-token detach", 1, 2, job_dispatch},
	{"job periodic force", "ID", "Launch a periodic job now.",
		"Whatever its times are, and whether it runs already.", "detach", 1, 1,
		job_periodic_force},
	{"job deployments", "ID", "List the deployments of a job.", NULL, "latest all verbose", 1,
		1, job_deployments},
	{"job promote", "ID", "Promote the canaries of a job's newest deployment.",
		"All groups, or those that --group names.", "group detach", 1, 1, job_promote},
	{"job history", "ID", "Show the versions of a job.", NULL, "p", 1, 1, job_history},
	{"job stop", "ID", "Stop a job and all its allocations.",
		"Waits until its evaluation is worked off, unless --detach is given.",
		"purge detach eval-priority yes", 1, 1, job_stop},
	{"job eval", "ID", "Have a job looked at again by its scheduler.",
		"Waits until the evaluation is worked off, unless --detach is given.",
		"detach force-reschedule", 1, 1, job_eval},
	{"job validate", "FILE", "Say every mistake of a job; register nothing.", NULL, NULL, 1, 1,
		job_validate},
	{"job inspect", "ID", "Print a job as JSON, ready for job run.", NULL, NULL, 1, 1,
		job_inspect},
	{"alloc list", "", "List allocations.", NULL, "job node status", 0, 0, alloc_list},
	{"alloc status", "ID", "Show an allocation.",
		"ID may be the beginning of an id, as long as only one allocation has it.", NULL, 1,
		1, alloc_status},
	{"alloc stop", "ID", "Stop an allocation; its job's scheduler replaces it.",
		"Waits until the evaluation is worked off, unless --detach is given.",
		"detach no-shutdown-delay", 1, 1, alloc_stop},
	{"deployment list", "", "List deployments, newest first.", NULL, "verbose", 0, 0,
		deployment_list},
	{"deployment status", "[ID]", "Show a deployment.",
		"ID may be the beginning of an id. With --monitor, follows it until it ends.",
		"verbose monitor", 0, 1, deployment_status},
	{"deployment pause", "ID", "Let a deployment go no further.", NULL, "detach", 1, 1,
		deployment_pause},
	{"deployment resume", "ID", "Let a paused deployment go on.",
		"Follows it until it ends, unless --detach is given.", "detach", 1, 1,
		deployment_resume},
	{"deployment promote", "ID", "Let the canaries of a deployment take over.",
		"All groups, or those that --group names. Follows it until it ends, unless "
		"--detach "
		"is given.",
		"group detach", 1, 1, deployment_promote},
	{"deployment fail", "ID", "End a deployment as failed.",
		"A job that asks for it goes back to its newest stable version.", "detach", 1, 1,
		deployment_fail},
	{"deployment unblock", "ID", "Let a deployment end that waits for other regions.", NULL,
		"detach", 1, 1, deployment_unblock},
	{"eval list", "", "List evaluations, newest first.", NULL, "job status verbose", 0, 0,
		eval_list},
	{"eval status", "[ID]", "Show an evaluation.",
		"ID may be the beginning of an id. With --monitor, waits until it is worked off.",
		"monitor job status verbose", 0, 1, eval_status},
	{"explain job", "ID", "Say why a job runs where it does, or nowhere.",
		"Every reason, on how many nodes it holds, and how little is missing on the "
		"nearest.",
		NULL, 1, 1, explain_job},
	{"explain alloc", "ID", "Say why an allocation is as it is.", NULL, NULL, 1, 1,
		explain_alloc},
	{"explain node", "ID", "Say which jobs can run on a node, and why others cannot.", NULL,
		NULL, 1, 1, explain_node},
	{"status", "[ID]", "Show whatever an id belongs to; without one, list jobs.",
		"ID is a job's, or the beginning of that of a node, allocation, evaluation or "
		"deployment.",
		"verbose", 0, 1, find_status},
	{"server members", "", "List the servers.", NULL, "detailed", 0, 0, server_members},
	{"agent-info", "", "Show the server's own figures.", NULL, NULL, 0, 0, agent_info},
	{"system gc", "", "Forget at once what has ended.",
		"Evaluations, allocations, jobs and nodes, whatever their age.", NULL, 0, 0,
		system_gc},
	{"system reconcile summaries", "", "Count the summaries of jobs anew.",
		"Known for Nomad's sake: the summaries cannot go wrong by themselves.", NULL, 0, 0,
		system_reconcile},
	{"operator scheduler get-config", "", "Show the schedulers' configuration.", NULL, NULL, 0,
		0, config_get},
	{"operator scheduler set-config", "", "Change the schedulers' configuration.",
		"What no flag names stays as it is.",
		"check-index scheduler-algorithm preempt-system-scheduler "
		"preempt-sysbatch-scheduler preempt-batch-scheduler preempt-service-scheduler "
		"memory-oversubscription reject-job-registration pause-eval-broker",
		0, 0, config_set},
	{"place", "", "Place instances of a job's group on the best nodes.",
		"Prints node and score of each; a refusal says why, in numbers. The request that "
		"is\n"
		"printed last may be repeated with --request, and gives the same allocations.",
		WIRE_FLAGS " job group count request", 0, 0, place},
	{"release", "ID...", "Release allocations.",
		"Over the wire as the client that placed them; with --operator over HTTP.",
		WIRE_FLAGS " operator", 1, -1, release},
	{"client status", "[ID...]", "Show what became of this client's allocations.",
		"Without ids: what changed after --since.", WIRE_FLAGS " since", 0, -1,
		client_allocations},
	{"client key", "NAME", "Derive a client's key from the master keys.",
		"Prints the line for --key-file. Needs no controller.", "master-key", 1, 1,
		client_key},
	{"key generate", "FILE", "Create a file of master keys.",
		"It is readable by its owner only, and must not exist yet.", NULL, 1, 1,
		key_generate},
	{"key rotate", "FILE", "Put a new master key before those of a file.",
		"Old keys stay valid until their lines are removed.", NULL, 1, 1, key_rotate},
	{"simulate", "SCENARIO", "Say what the schedulers would do in a scenario.",
		"The JSON file holds nodes, jobs, allocations and an evaluation "
		"(docs/simulate.md); "
		"-\n"
		"is standard input. Prints the plans and evaluations that the schedulers make of "
		"it.\n"
		"Needs no controller.",
		"pretty", 1, 1, simulate_scenario},
	{"stats", "", "The controller's figures on one screen.", NULL, NULL, 0, 0, stats},
	{"health", "", "Ask whether the controller is healthy.", NULL, NULL, 0, 0, health},
};
const unsigned command_count = sizeof commands / sizeof commands[0];
