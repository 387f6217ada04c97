// Completes ids from the beginnings that people type.
#pragma once
#include "state/base/uuid.h"
#include "tools/berth/cli/session.h"

struct id_kind {
	const char *noun; // "node"
	const char *list; // "/v1/nodes"
	const char *name; // member that tells several matches apart: "Name"
};
extern const struct id_kind id_node, id_alloc, id_eval, id_deployment;

// Completes the beginning of an id. Complains when no id or several ids match.
enum exit_status lookup_id(struct session *, const struct id_kind *, const char *prefix,
	char id[static UUID_TEXT_BYTES]);
