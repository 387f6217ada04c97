// Entries of placement over the wire: bodies of entries as entry.h tells. The bytes are documented at the top of
// entry.c.
#pragma once
#include "state/log/coder.h"
#include "state/log/command.h"
#include "state/records/resources.h"

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
	uint8_t requested; // stored by ENTRY_PLACE_IN_PART alone: else the count
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

extern const struct record_type entry_client_description, entry_collect_description;
coder_function entry_alloc_place_code, entry_place_request_code, entry_place_in_part_code,
	entry_alloc_release_code;
