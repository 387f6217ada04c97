// Texts of commands: copies that live as long as the command, and are freed with it.
#pragma once
#include "state/log/command.h"
#include "tools/api/server/request.h"
#include <jansson.h>

struct text owned_text(const char *string); // NULL is ""
void owned_text_free(struct text);

// False unless meta is absent, null, or an object of at most that many texts; the reply says so.
bool owned_meta_is_fit(json_t *meta, uint32_t most, struct reply *);
// Names and values of such an object. Free with owned_meta_free.
struct node_pair *owned_meta(json_t *meta, uint32_t *count);
void owned_meta_free(const struct node_pair *, uint32_t count);
