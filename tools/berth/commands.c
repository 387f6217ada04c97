// The table of subcommands: help, dispatch and completion come from it.
#include "tools/berth/session.h"

#define WIRE_FLAGS "wire name key-file master-key"

const struct command commands[] = {
	{"node list", "", "List nodes.", "With --status only those that are ready, down, …",
		"status", 0, 0, node_list},
	{"node status", "ID", "Show a node, its attributes and what runs on it.",
		"ID may be the beginning of an id, as long as only one node has it.", NULL, 1, 1,
		node_status},
	{"node key", "UUID", "Derive a node's key from the master keys.",
		"Prints the line that the node's agent is provisioned with. Needs no controller.",
		"master-key", 1, 1, node_key},
	{"job list", "", "List jobs.", NULL, NULL, 0, 0, job_list},
	{"job run", "FILE", "Register a job from a JSON file; - is standard input.",
		"The file holds {\"Job\": {…}} or the job alone, with Nomad's field names.",
		"check-index", 1, 1, job_run},
	{"job status", "ID", "Show a job and its allocations.", NULL, NULL, 1, 1, job_status},
	{"job stop", "ID", "Stop a job and all its allocations.", NULL, "purge", 1, 1, job_stop},
	{"job validate", "FILE", "Say every mistake of a job; register nothing.", NULL, NULL, 1, 1,
		job_validate},
	{"job inspect", "ID", "Print a job as JSON, ready for job run.", NULL, NULL, 1, 1,
		job_inspect},
	{"alloc list", "", "List allocations.", NULL, "job node status", 0, 0, alloc_list},
	{"alloc status", "ID", "Show an allocation.",
		"ID may be the beginning of an id, as long as only one allocation has it.", NULL, 1,
		1, alloc_status},
	{"place", "", "Place instances of a job's group on the best nodes.",
		"Prints node and score of each; a refusal says why, in numbers. The request that "
		"is\n"
		"printed last may be repeated with --request, and gives the same allocations.",
		WIRE_FLAGS " job group count request", 0, 0, place},
	{"release", "ID...", "Release allocations.",
		"Over the wire as the client that placed them; with --operator over HTTP.",
		WIRE_FLAGS " operator", 1, -1, release},
	{"status", "[ID...]", "Show what became of this client's allocations.",
		"Without ids: what changed after --since.", WIRE_FLAGS " since", 0, -1, status},
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
