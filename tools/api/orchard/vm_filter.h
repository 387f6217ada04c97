// ?filter= of machines in the form of Orchard's clients.
#pragma once
#include "tools/api/server/request.h"

// Turns Orchard's "worker=name,…" into an expression of Berth's filters; leaves an expression as it is.
void vm_filter_translate(struct request *);
