// Which directories of its worker a machine may have: what a policy of the cluster's settings allows, and nothing else.
#pragma once
#include "state/records/nodes/vm.h"
#include "tools/api/server/request.h"

// False with a reply. Under no read lock.
bool host_dirs_are_allowed(const struct request *, const struct vm *, struct reply *);
