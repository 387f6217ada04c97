// The header of an answer to a question, which the question may have asked to say a term.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "dataplane/wire/wire.h"

// The header of an answer that takes so many bytes besides the term. A question that leaves no room for the term is
// answered without.
struct wire_header answer_header(const struct hot_frame *, uint32_t bytes);
