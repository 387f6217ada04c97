// What the subcommands about variables share.
#pragma once
#include "tools/berth/commands/commands.h"
#include <jansson.h>
#include <stddef.h>

// "/v1/var/PATH?namespace=NAME"; path has HTTP_PATH_BYTES. False after a complaint: they are too long.
bool var_path(const char *namespace_name, const char *variable, char *path);
// The path without slashes and blanks around it, as variables are written. Caller frees.
char *var_trimmed(const char *path);
// Whether --out is one of these words, which are separated by blanks. False after a complaint. Without the flag *out is
// for_people on a terminal, else json.
bool var_out(const struct flags *, const char *words, const char *for_people, const char **out);
// Prints a variable in a form: table, json, hcl; anything else: nothing.
void var_print(json_t *variable, const char *out);
// What a change that somebody else was ahead of is told.
enum exit_status var_conflict(const char *body, size_t size);
// --check-index: *given whether there is one. False after a complaint.
bool var_check_index(const struct flags *, bool *given, uint64_t *index);
