// What simulated allocations do, one behaviour for all of a group of a job's version, read from the description of
// one of them. A behaviour is known by the job's index and the group's number, as lists of allocations name them.
#pragma once
#include "state/base/bytes.h"
#include "tools/options/flags.h"

#define BEHAVIOUR_NEVER 0xffffffffu // ms
#define BEHAVIOUR_TASKS_MAX 8u      // that are told of
#define BEHAVIOURS_MAX 1000000u
#define BEHAVIOUR_OF_MACHINES 0xffffu // in place of a group: the index is a hash of the image

// When a node says that an allocation is healthy.
struct health_wait {
	uint32_t min_healthy_ms, deadline_ms;
	bool is_asked;
};

struct behaviour {
	uint64_t job_index;
	uint16_t group;
	bool is_known;
	// Until it is known: who asks for it, and what has come.
	uint32_t asker, asked_ms;
	uint64_t version;
	struct bytes_writer json;
	// Then:
	struct health_wait update, migrate;
	uint32_t start_ms, kill_ms; // from the order to the deed
	uint32_t run_ms;            // NEVER: until it is stopped, or as the flags say
	bool fails, fails_to_start, start_is_tried_again, start_is_nodes_fault;
	struct {
		uint32_t attempts, interval_ms, delay_ms;
		bool waits, on_success;
	} restart;
	uint32_t stop_after_ms; // without the controller; 0: goes on
	uint32_t task_count;
	char *tasks[BEHAVIOUR_TASKS_MAX]; // names
};

struct behaviours {
	struct behaviour **items;
	uint32_t count, mask;
	uint32_t *slots;             // number + 1 by hash; 0: free
	const struct flag_list *bad; // "JOB:VERSION": fail to start
};

void behaviours_create(struct behaviours *, const struct flag_list *bad);
void behaviours_destroy(struct behaviours *);
// The number of a behaviour; a new one when it has not been seen. All beyond BEHAVIOURS_MAX share one.
uint32_t behaviours_find(struct behaviours *, uint64_t job_index, uint16_t group);
// The number of a machine's behaviour, by the image in its whole description. One that cannot be read behaves as the
// flags say.
uint32_t behaviour_of_machine(
	struct behaviours *, const struct bytes_writer *json, const struct uuid *instance);
// Takes a description that has come whole. False when it cannot be read; the behaviour then stays as it was.
bool behaviour_read(struct behaviours *, struct behaviour *);
