// What becomes of virtual machines, workers and the nodes that they are, by the rows: plain arrays and nothing else. It
// is told what was asked for, says what the controller has to answer, and is compared with it.
#pragma once
#include "state/records/nodes/vm.h"
#include "tests/state/vms.h"

enum { MODEL_VMS = 8, MODEL_WORKERS = 5, MODEL_NODES = 4, MODEL_PLACED = 40000 };
enum { NO_ONE = -1 };

struct model_vm {
	bool is_there, is_scheduled, restarts, suspendable;
	int status, power;
	int worker;  // number, NO_ONE
	int running; // condition: 0, 1, NO_ONE: not said
	int64_t restarted_ns;
	uint64_t restarts_done, generation, observed;
	int64_t cores, memory_mib; // that it asks for
	int holds_node;            // NO_ONE: it holds nothing
	uint32_t holds_cpu_mhz, holds_memory_mb;
};

struct model_worker {
	bool is_there, beats, paused;
	int machine, node, owner; // owner: the one node that may have it; NO_ONE: none may
	int64_t cores, memory_mib, last_seen_ns;
};

struct model_node {
	bool is_there, is_up;
	uint32_t slot, generation;
	uint64_t sequence; // of its reports
};

struct model_placed { // by a client, of the node's
	struct uuid id;
	int node; // NO_ONE: it ended
};

struct vm_model {
	int64_t now_ns;
	struct model_vm vms[MODEL_VMS];
	struct model_worker workers[MODEL_WORKERS];
	struct model_node nodes[MODEL_NODES];
	struct model_placed placed[MODEL_PLACED];
	uint32_t placed_count;
};

extern const struct resources model_node_total; // of each
extern const struct resources model_ask;        // of each that a client places

enum command_outcome model_create(struct vm_model *, int vm, const struct vm *asked);
enum command_outcome model_delete(struct vm_model *, int vm);
enum command_outcome model_power(struct vm_model *, int vm, int power);
enum vm_assign_result model_assign(struct vm_model *, int vm, int worker);
bool model_judge(struct vm_model *, int vm); // whether it changed
// status and running: NO_ONE: not said.
enum command_outcome model_report(struct vm_model *, int vm, int status, int running);
// What the node says of a machine; whether it knows it.
bool model_hear(struct vm_model *, int node, int vm, int client_status);

// As what the node registers; worker NO_ONE: as none.
enum command_outcome model_register(
	struct vm_model *, int node, int worker, int machine, int64_t cores);
void model_silent(struct vm_model *, int node, int64_t silent_ns); // also of a goodbye
void model_returned(struct vm_model *, int node);
void model_purge(struct vm_model *, int node);
enum command_outcome model_put_worker(struct vm_model *, int worker, int machine, int64_t cores);
enum command_outcome model_see(struct vm_model *, int worker);
enum command_outcome model_pause(struct vm_model *, int worker, bool paused);
enum command_outcome model_forget_worker(struct vm_model *, int worker);

// What machines and clients hold of it.
struct resources model_use(const struct vm_model *, int node);
bool model_has_room(const struct vm_model *, int node, struct resources);
