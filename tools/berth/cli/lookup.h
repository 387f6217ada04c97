// Completes what people type for an id: the whole of it, the beginning of one, or a name.
#pragma once
#include "tools/berth/cli/session.h"
#include <stdbool.h>

#define LOOKUP_BYTES 264u // an id or a name, NUL-terminated

struct id_kind {
	const char *noun; // "node"
	const char *list; // "/v1/nodes"
	const char *id;   // the member that is the id: "ID"
	const char *
		name; // the member that may stand for it, and tells several apart; NULL: the id does
	bool is_uuid;         // its beginning is hexadecimal
	bool is_in_namespace; // the one of --namespace is looked through, else all
};
extern const struct id_kind kind_node, kind_job, kind_alloc, kind_eval, kind_deployment, kind_pool,
	kind_namespace, kind_quota, kind_machine, kind_worker, kind_policy, kind_token, kind_role,
	kind_account;

// Whether exactly one has this name; says nothing.
bool lookup_name(
	struct session *, const struct id_kind *, const char *name, char id[static LOOKUP_BYTES]);
// A whole id wins, then the only one that begins so, then the only one of that name. Complains when none or several
// fit. A job of another namespace, which --namespace '*' finds, makes it the session's. Who may not list gets what
// was typed.
enum exit_status lookup(
	struct session *, const struct id_kind *, const char *typed, char id[static LOOKUP_BYTES]);
