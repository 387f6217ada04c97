// Prints deployments for people, and follows one until it ends.
#pragma once
#include "tools/berth/cli/session.h"

void deployment_print(json_t *deployment, bool whole_id);
// Follows the deployment until it ends, and the deployment that rolls it back. STATUS_FAILURE when it does not succeed.
enum exit_status deployment_monitor(struct session *, const char *id);
