// What a log holds of what clients were told, for checker.py.
//
//	requests    {"CLIENT:ISSUED_MS:NUMBER": [[index, [[allocation, node], …]], …]}: its answers, one if all is well
//	placed      {allocation: [node, index]}
//	released    {allocation: index}, of the first release
//	variables   {"NAMESPACE.PATH": [index, …]}
//	jobs        {id: [index, …]}: registered, scaled, stopped
#pragma once
#include "state/log/entry.h"
#include <jansson.h>

struct state;

struct log_holds {
	json_t *requests, *placed, *released, *variables, *jobs;
};

void log_holds_begin(struct log_holds *);
// Before the entry is applied to the state, by which its index becomes the one given.
void log_holds_note(struct log_holds *, const struct state *, const struct entry *, uint64_t index);
// Moves all of it into an object.
void log_holds_end(struct log_holds *, json_t *to);
