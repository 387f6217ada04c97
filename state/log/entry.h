// A log entry: one change of the state with everything that was decided about it, so that applying
// it needs neither clock nor choice. The bytes are documented at the top of entry.c.
//
// Each kind has a row of functions in entry.c, which get the entry's body and are declared beside it: code says how the
// body is stored (state/log/coder.h), and release gives back what a body owns, also one that was read in part. A body
// that is a plain record has a table of fields instead (state/base/schema.h). What entries do is in the rows of
// state/apply/apply.c.
#pragma once
#include "state/base/bytes.h"
#include "state/log/entry_alloc.h"
#include "state/log/entry_deployment.h"
#include "state/log/entry_gc.h"
#include "state/log/entry_job.h"
#include "state/log/entry_node.h"
#include "state/log/entry_placement.h"
#include "state/log/entry_plan.h"
#include "state/log/entry_record.h"
#include "state/log/entry_standing.h"
#include "state/log/entry_vm.h"
#include <stdbool.h>
#include <stdint.h>

enum entry_kind { // stored: numbers are never given again
	ENTRY_TERM = 1,
	ENTRY_NODE_REGISTER,
	ENTRY_NODE_STATUS,
	ENTRY_NODE_STANDING,
	ENTRY_NODE_ELIGIBILITY,
	ENTRY_NODE_DRAIN,
	ENTRY_NODE_PURGE,
	ENTRY_JOB_REGISTER,
	ENTRY_JOB_DEREGISTER,
	ENTRY_JOB_STABLE,
	ENTRY_JOB_NOTE,
	ENTRY_CLIENT,
	ENTRY_ALLOC_PLACE,
	ENTRY_PLACE_REQUEST,
	ENTRY_ALLOC_RELEASE,
	ENTRY_COLLECT,
	ENTRY_ALLOC_UPDATE,
	ENTRY_ALLOC_TRANSITION,
	ENTRY_PLAN,
	ENTRY_DEPLOYMENT,
	ENTRY_VM,
	ENTRY_RECORD_PUT,
	ENTRY_RECORD_DELETE,
	ENTRY_GC,
	ENTRY_PLACE_IN_PART,
	ENTRY_NODE_AWAITED,
	ENTRY_VM_NOTED,
	ENTRY_KINDS,
};

struct entry {
	enum entry_kind kind;
	int64_t time_ns; // unix; when it was decided
	union {
		uint64_t body[1]; // where every body begins
		uint64_t term;
		struct entry_node_register node_register;
		struct entry_node_status node_status;
		struct entry_node_standing standing;
		struct entry_node_eligibility node_eligibility;
		struct entry_node_drain node_drain;
		struct entry_node_purge node_purge;
		struct entry_job_register job_register;
		struct entry_job_deregister job_deregister;
		struct entry_job_stable job_stable;
		struct entry_job_note job_note;
		struct entry_client client;
		struct entry_alloc_place alloc_place;
		struct entry_place_request place_request;
		struct entry_alloc_release alloc_release;
		struct entry_collect collect;
		struct entry_alloc_update alloc_update;
		struct entry_alloc_transition alloc_transition;
		struct entry_plan plan;
		struct entry_deployment deployment;
		struct entry_vm vm;
		struct entry_record_put record_put;
		struct entry_record_delete record_delete;
		struct entry_gc gc;
	};
};

void entry_encode(const struct entry *, struct bytes_writer *);
// Texts are views into the reader's data. description is filled for NODE_AWAITED and NODE_REGISTER. Returns 0,
// -ERROR_CORRUPT or -ERROR_VERSION; after 0 call entry_release, unless the entry was applied.
int entry_decode(struct entry *, struct node_registration *description, struct bytes_reader *);
void entry_release(struct entry *);
// What a decoded entry takes: no more of the struct is used than its kind needs.
size_t entry_bytes(const struct entry *);
// Whether it has a description of a node.
static inline bool entry_is_registration(const struct entry *e)
{
	return e->kind == ENTRY_NODE_REGISTER || e->kind == ENTRY_NODE_AWAITED;
}
