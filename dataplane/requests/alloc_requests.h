// Questions and reports of nodes about their allocations, and questions about their virtual machines. Questions are
// answered at once, from the published state, in the packet itself; reports become commands like every other request.
#pragma once
#include "dataplane/requests/request.h"

// How long a node waits when its question for a description was one too many.
#define RETRY_SPEC_MS 20u

static inline bool is_alloc_question(uint8_t type)
{
	return type == WIRE_ALLOCS || type == WIRE_ALLOC_SPEC || type == WIRE_VMS;
}
// Encodes and signs the answer over the question. Returns its length. 0: *refusal is what to tell instead (enum
// wire_refusal), or 0 when the question is malformed.
uint32_t alloc_question_answer(struct packet_worker *, const struct hot_frame *, uint8_t *refusal);

// Fills the command of a report. False: malformed.
bool alloc_update_decode(struct request *);
// Frees what the applier did not take over.
void alloc_update_release(struct request *);
uint32_t alloc_updated_encode(const struct request *, uint8_t *frame);
