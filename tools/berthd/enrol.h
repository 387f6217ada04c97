// berthd cluster init | join | leave, while the daemon is stopped.
#pragma once
#include "tools/berthd/daemon.h"

// Returns the exit status; what is wrong goes to standard error.
int berthd_enrol(struct berthd *, const char *verb);
