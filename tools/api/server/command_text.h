// Texts of commands: copies that live as long as the request's submission.
#pragma once
#include "tools/api/server/submission.h"
#include <jansson.h>

struct text command_text(struct request *, const char *string); // NULL is ""

// True when meta is absent, null, or an object of at most that many texts; false with a reply.
bool meta_is_fit(json_t *meta, uint32_t most, struct reply *);
// The names and values of such an object.
struct node_pair *command_meta(struct request *, json_t *meta, uint32_t *count);

// Parses the path's id; false with a reply that there is no such record. noun: "node".
bool path_uuid(const struct request *, const char *noun, struct uuid *, struct reply *);
