// What nodes ask and report about their allocations, and what a machine of theirs is. Questions are
// answered at once, from the published state, in the packet itself; reports become commands like every
// other request.
#pragma once
#include "dataplane/requests/request.h"
#include "state/base/bytes.h"

// Descriptions that were made lately: a node takes its own in pieces, one after the other.
#define SPECS_CACHED 64u
// Descriptions that a worker makes in one millisecond of its clock, so that heartbeats do not wait.
#define SPECS_PER_MS 4u
#define RETRY_SPEC_MS 20u

struct spec {
	struct uuid id;   // of an allocation, or of a machine's instance
	uint64_t version; // 0: nothing is here
	struct bytes_writer json;
};
struct spec_cache {
	struct spec items[SPECS_CACHED];
	uint32_t now_ms, made; // so many since then
};
void spec_cache_free(struct spec_cache *);

static inline bool is_alloc_question(uint8_t type)
{
	return type == WIRE_ALLOCS || type == WIRE_ALLOC_SPEC || type == WIRE_VMS;
}
// Encodes and signs the answer over the question. Returns its length, 0: the question is malformed;
// *refusal, when not 0, is what to tell instead (enum wire_refusal).
uint32_t alloc_question_answer(struct worker *, const struct hot_frame *, uint8_t *refusal);

// Fills the command of a report. False: malformed.
bool alloc_update_decode(struct request *);
// Frees what the applier did not take over.
void alloc_update_release(struct request *);
uint32_t alloc_updated_encode(const struct request *, uint8_t *frame);
