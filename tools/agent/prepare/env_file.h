// Files of KEY=value lines, which templates with Envvars make.
#pragma once
#include "state/base/text.h"
#include <stdint.h>

struct env_list {
	char **entries; // "KEY=value", NULL-ended; NULL: none
	uint32_t count;
};
#define ENV_LIST_MAX 4096u

// Adds what the text says: lines of KEY=value, with # before what is said to people, "export " before a key, and
// values in single or double quotes. False and the line that is wrong.
bool env_list_add(struct env_list *, struct text, char *message, uint32_t message_size);
void env_list_free(struct env_list *);
