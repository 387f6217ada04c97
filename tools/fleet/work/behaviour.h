// What simulated allocations do: all of a group of a job's version share one behaviour, which is read from the
// description of one of them. The job's index and the group's number name a behaviour, as in lists of allocations.
#pragma once
#include "state/base/bytes.h"
#include "state/base/uuid.h"
#include "tools/options/flags.h"

#define BEHAVIOUR_NEVER 0xffffffffu // ms
#define BEHAVIOUR_TASKS_MAX 8u      // reported
#define BEHAVIOURS_MAX 1000000u
#define BEHAVIOUR_OF_MACHINES 0xffffu // in place of a group: the index is a hash of the image

// When a node calls an allocation healthy.
struct health_wait {
	uint32_t min_healthy_ms, deadline_ms;
	bool is_asked;
};

struct behaviour {
	uint64_t job_index;
	uint16_t group;
	bool is_known;
	// Until it is known: the node that asks for the description, and its bytes so far.
	uint32_t asker, asked_ms;
	struct uuid asked; // its allocation, of which it asks
	uint64_t version;
	struct bytes_writer json;
	// Once it is known:
	struct health_wait update, migrate;
	uint32_t start_ms, kill_ms; // delay after the order
	uint32_t run_ms;            // NEVER: until it is stopped, or by the flags
	bool fails, fails_to_start, start_is_tried_again, start_is_nodes_fault;
	struct {
		uint32_t attempts, interval_ms, delay_ms;
		bool waits, on_success;
	} restart;
	uint32_t stop_after_ms; // without the controller; 0: it runs on
	uint32_t task_count;
	char *tasks[BEHAVIOUR_TASKS_MAX]; // names
};

struct behaviours {
	struct behaviour **items;
	uint32_t count, mask;
	uint32_t *slots;             // number + 1 by hash; 0: free
	const struct flag_list *bad; // "JOB:VERSION": versions that fail to start
};

void behaviours_create(struct behaviours *, const struct flag_list *bad);
void behaviours_destroy(struct behaviours *);
// The number of a behaviour, which is added if it is new. All beyond BEHAVIOURS_MAX share one.
uint32_t behaviours_find(struct behaviours *, uint64_t job_index, uint16_t group);
// The number of a machine's behaviour, by the image in its whole description. A machine whose image cannot be read
// behaves as the flags say.
uint32_t behaviour_of_machine(
	struct behaviours *, const struct bytes_writer *json, const struct uuid *instance);
// Reads a whole description. False when it is malformed; the behaviour then stays as it was.
bool behaviour_read(struct behaviours *, struct behaviour *);
