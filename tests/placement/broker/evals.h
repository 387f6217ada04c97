// Evaluations for tests, identified by numbers.
#pragma once
#include "state/records/evaluation.h"

struct eval_ask {
	uint32_t number;
	const char *job; // NULL: "job"
	const char *namespace_name;
	int type; // enum eval_type
	int64_t priority;
	uint64_t create_index, modify_index; // 0: the number
	uint32_t node;                       // 0: none
	uint64_t snapshot_index;
	int status, triggered_by;
	int64_t wait_ns, wait_until_ns;
};

struct uuid eval_id(uint32_t number);
uint32_t eval_number(const struct evaluation *);
struct uuid eval_node(uint32_t number);
struct evaluation *make_eval(struct eval_ask); // caller frees
void set_class(struct evaluation *, const char *computed_class, bool eligible);
