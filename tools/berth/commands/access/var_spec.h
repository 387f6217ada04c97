// A variable in a file: in JSON with the names of /v1/var, or in HashiCorp's configuration syntax with small letters.
#pragma once
#include "tools/berth/cli/session.h"
#include <jansson.h>
#include <stddef.h>

// By what the file is called, else what --in says, else JSON. False after a complaint: --in says something else.
bool var_spec_is_hcl(const struct flags *, const char *file, bool *is_hcl);
// Reads {"Namespace": …, "Path": …, "ModifyIndex": …, "Items": {…}}, of which any may be missing but the items. NULL
// after a complaint; file: where it comes from.
json_t *var_spec_read(const char *text, size_t size, bool is_hcl, const char *file);
// Prints a variable so that it can be read again.
void var_spec_print_hcl(json_t *variable);
