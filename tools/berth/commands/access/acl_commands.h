// What the subcommands about access control share.
#pragma once
#include "tools/berth/commands/commands.h"
#include <jansson.h>

// Prints a token: with --json as it is, else for people.
void acl_token_print(struct session *, json_t *token);
// The secret in a file, "-" being standard input, without what stands around it. Caller frees; NULL after a complaint.
char *acl_secret_read(const char *file);
// Deletes what has this name in the folder, and says so.
enum exit_status acl_delete(
	struct session *, const char *folder, const char *noun, const char *name);
// The values of a flag that may come again, as a list; NULL: it was not given. Caller releases.
json_t *acl_names(const struct flags *, enum flag);
// The same as a list of objects with a name each.
json_t *acl_links(const struct flags *, enum flag);
