// A log entry: one change of the state with everything that was decided about it, so that applying
// it needs neither clock nor choice. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/log/command.h"
#include "state/log/entry_alloc.h"
#include "state/log/entry_deployment.h"
#include "state/log/entry_evaluation.h"
#include "state/log/entry_job.h"
#include "state/log/entry_node.h"
#include "state/log/entry_plan.h"
#include "state/log/entry_standing.h"
#include "state/log/entry_vm.h"
#include "state/records/resources.h"
#include <stdbool.h>
#include <stdint.h>

enum entry_kind { // stored: numbers are never given again
	ENTRY_TERM = 1,
	ENTRY_NODE_REGISTER,
	ENTRY_NODE_STATUS,
	ENTRY_JOB_REGISTER,
	ENTRY_JOB_DEREGISTER,
	ENTRY_CLIENT,
	ENTRY_ALLOC_PLACE,
	ENTRY_PLACE_REQUEST,
	ENTRY_ALLOC_RELEASE,
	ENTRY_COLLECT,
	ENTRY_EVALUATION,
	ENTRY_SCHEDULER_CONFIG,
	ENTRY_GC,
	ENTRY_PLAN,
	ENTRY_ALLOC_UPDATE,
	ENTRY_ALLOC_TRANSITION,
	ENTRY_NODE_ELIGIBILITY,
	ENTRY_NODE_PURGE,
	ENTRY_JOB_STABLE,
	ENTRY_JOB_NOTE,
	ENTRY_DEPLOYMENT,
	ENTRY_NODE_DRAIN,
	ENTRY_NODE_LIFECYCLE,
	ENTRY_VM,
	ENTRY_VM_WORKER,
	ENTRY_CLUSTER_SETTINGS,
	ENTRY_KINDS,
};

enum node_status_cause {
	NODE_CAUSE_EXPIRED,
	NODE_CAUSE_RETURNED,
	NODE_CAUSE_GOODBYE,
	NODE_CAUSES,
	NODE_CAUSE_NONE = 0xff, // it registered
};

struct entry_node_register {
	uint32_t slot, generation;
	uint16_t owner; // worker of the slot's block
	// node, sequence, texts, device groups and pairs sorted; the rest of it is not used here
	struct node_registration *description;
	bool readiness; // probes count
};

struct entry_node_status {
	uint32_t slot, generation;
	uint8_t status; // enum node_status
	uint8_t cause;  // enum node_status_cause
	bool readiness; // probes count
};

struct job;

struct entry_job_register {
	struct job *job; // taken over by apply, freed by entry_release otherwise
};

enum stop_everywhere { // stored; of a stop that is no purge
	STOP_HERE,
	STOP_EVERYWHERE,  // other regions are told of it
	PURGE_EVERYWHERE, // and are to forget it
	STOP_EVERYWHERES,
};
struct entry_job_deregister {
	struct text namespace_name, id;
	bool purge;
	uint8_t everywhere; // enum stop_everywhere
};

struct entry_client {
	uint32_t number;
	struct text name;
};

struct entry_alloc_place {
	struct uuid id;
	uint32_t slot, generation;
	uint32_t client;
	uint64_t job_version; // modify index of the version that it was placed with
	uint16_t group;
	uint32_t number; // in the allocation's name
	struct resources resources;
	struct device_set devices;
	double score;
	uint32_t nodes_evaluated, nodes_feasible;
};

struct entry_place_request {
	uint32_t client;
	int64_t issued_ms;
	uint64_t request;
	uint32_t nodes_feasible;
	uint8_t count;
	struct placed_item items[PLACE_COUNT_MAX];
};

struct entry_alloc_release {
	uint8_t count;
	struct uuid ids[PLACE_COUNT_MAX];
};

struct entry_collect {
	int64_t ended_before_ns;  // allocations that ended, jobs that stopped
	int64_t issued_before_ms; // remembered requests
	uint32_t limit;           // of each
};

struct entry {
	enum entry_kind kind;
	int64_t time_ns; // unix; when it was decided
	union {
		uint64_t term;
		struct entry_node_register node_register;
		struct entry_node_status node_status;
		struct entry_node_eligibility node_eligibility;
		struct entry_node_purge node_purge;
		struct entry_node_drain node_drain;
		struct entry_node_lifecycle node_lifecycle;
		struct entry_job_register job_register;
		struct entry_job_deregister job_deregister;
		struct entry_job_stable job_stable;
		struct entry_job_note job_note;
		struct entry_client client;
		struct entry_alloc_place alloc_place;
		struct entry_place_request place_request;
		struct entry_alloc_release alloc_release;
		struct entry_collect collect;
		struct entry_evaluation evaluation;
		struct entry_scheduler_config scheduler_config;
		struct entry_gc gc;
		struct entry_plan plan;
		struct entry_alloc_update alloc_update;
		struct entry_alloc_transition alloc_transition;
		struct entry_deployment deployment;
		struct entry_vm vm;
		struct entry_vm_worker vm_worker;
		struct entry_cluster_settings cluster_settings;
	};
};

void entry_encode(const struct entry *, struct bytes_writer *);
// Texts are views into the reader's data. description is filled for NODE_REGISTER. Returns 0,
// -ERROR_CORRUPT or -ERROR_VERSION; after 0, and unless it was applied, entry_release.
int entry_decode(struct entry *, struct node_registration *description, struct bytes_reader *);
void entry_release(struct entry *);

// A node's description as it is stored, here and in snapshots.
void node_description_encode(const struct node_registration *, struct bytes_writer *);
// Also of a part of a registration: only the form is checked. False when the bytes are none.
bool node_description_decode(struct node_registration *, struct bytes_reader *);

void device_set_encode(const struct device_set *, struct bytes_writer *);
struct device_set device_set_decode(struct bytes_reader *);
void place_request_encode(const struct entry_place_request *, struct bytes_writer *);
void place_request_decode(struct entry_place_request *, struct bytes_reader *);

struct batch_header {
	uint64_t first_index;
	uint32_t entries;
	uint32_t indexes; // by which its entries advance the state's index, all together
};

#define BATCH_HEADER_BYTES 32u

// Fills the header of a batch whose entries follow it in the writer.
void batch_seal(struct bytes_writer *, const struct batch_header *);
// Checks magic, version, size and checksum; leaves the reader at the first entry.
// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION.
int batch_open(struct bytes_reader *, struct batch_header *);
