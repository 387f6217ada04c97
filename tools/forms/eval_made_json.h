// Evaluations that a write made, in the form of answers to writes.
#pragma once
#include "state/log/command.h"
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

// Members "EvalID" and "EvalCreateIndex".
void eval_made_json(struct json_writer *, const struct eval_made *);
// Members "EvalIDs" and "EvalCreateIndex". Takes the read lock.
void evals_made_json(struct json_writer *, const struct state *, const struct eval_made *);
// Members "Index", "LastContact", "KnownLeader" and "NextToken", which end the answer to a write.
void write_meta_json(struct json_writer *, uint64_t index);
// The same of an answer to a read that is no list and no single record.
void read_meta_json(struct json_writer *, uint64_t index);
