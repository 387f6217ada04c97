// Compares what a service or batch job asks for with what is there: which allocations stop, change, move or are
// missing, and what becomes of the deployment (rows C1–C49, docs/spec/reconciler.md, whose steps the files follow in
// their order). Pure: it looks at what it is given, has no clock, and asks for no room; the scheduler turns its result
// into a plan.
#pragma once
#include "placement/scheduler/reconcile/reconciliation.h"

void reconcile(const struct reconcile_ask *, struct reconciliation *);
