// The shapes of recorded answers (tests/nomad/recorded_shapes.txt), and how an answer of ours differs from its own: a
// member that is missing, of another type, or null where the recording has a value. More members may be there.
#pragma once
#include <jansson.h>

struct recorded;

struct recorded *recorded_load(void);
void recorded_free(struct recorded *);
// Notes each difference as "RECORD.member: what" once; route as in the file ("GET /v1/jobs").
void recorded_compare(struct recorded *, const char *route, json_t *answer);
// What was noted, in the order of the first appearance: what -> the route that showed it.
json_t *recorded_differences(const struct recorded *);
// How many answers showed the record or route of this name.
json_int_t recorded_seen(const struct recorded *, const char *name);
// All names of records and routes.
json_t *recorded_names(const struct recorded *);
