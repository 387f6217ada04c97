// A client of the wire protocol, opened by the flags.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/client/client.h"

// Caller closes with client_close.
enum exit_status wire_open(struct session *, struct client **);
// Explains the result of a client's call that was not CLIENT_DONE.
enum exit_status wire_problem(struct session *, int result, const struct wire_refused *);
