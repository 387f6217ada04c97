// Compares what a service or batch job asks for with its allocations: which of them stop, change or move, which are
// missing, and what becomes of the deployment (rows C1–C49, docs/spec/reconciler.md; the files follow its steps in
// order). Pure: it reads only what it is given, has no clock, and ignores room; the scheduler turns its result into a
// plan.
#pragma once
#include "placement/scheduler/reconcile/reconciliation.h"

void reconcile(const struct reconcile_ask *, struct reconciliation *);
