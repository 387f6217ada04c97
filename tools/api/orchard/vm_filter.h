// ?filter= of machines as Orchard's clients write it.
#pragma once
#include "tools/api/server/request.h"

// Orchard's "worker=name,…" becomes an expression of Berth's filters; an expression stays as it is.
void vm_filter_translate(struct request *);
