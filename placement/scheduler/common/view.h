// A scheduler's view of the cluster: the daemon's state under RCU (state_view.c), or a scenario (tools/simulate).
// Everything returned is immutable and valid until the view is ended. Two reads may see different moments.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"
#include "state/records/nodes/node_pool.h"
#include "state/records/scheduler_config.h"
#include "state/tables/state.h"

struct fleet;
struct claimant;

struct scheduler_view {
	void *context;
	uint64_t (*index)(void *context);
	// Slots 0 … n-1 may hold nodes; NULL for an empty slot. Ids and slots name the same nodes.
	uint32_t (*slots)(void *context);
	const struct node *(*node_at)(void *context, uint32_t slot);
	const struct node *(*node_by_id)(void *context, const struct uuid *);
	// For looks at nodes in no order, where a scan's fetching of the next slots is in the way; NULL: node_at()
	// does. The second fetches what the first will read: the slot's, and some steps later, with is_near, the
	// node's.
	const struct node *(*node_alone)(void *context, uint32_t slot);
	void (*prefetch_node)(void *context, uint32_t slot, bool is_near);
	// The newest version; NULL: purged or never there.
	const struct job *(*job)(void *context, const char *namespace_name, const char *id);
	// A version by its number; NULL: not kept.
	const struct job *(*job_version)(
		void *context, const char *namespace_name, const char *id, uint64_t version);
	// The deployment with the greatest create index; NULL: the job has none. All deployments of a job, newest
	// first.
	const struct deployment *(*latest_deployment)(
		void *context, const char *namespace_name, const char *id);
	void (*job_deployments)(void *context, const char *namespace_name, const char *id,
		state_deployment_visit *, void *visit_context);
	// All allocations of a job (every incarnation), and all on a node; terminal ones included.
	void (*job_allocations)(void *context, const char *namespace_name, const char *id,
		state_allocation_visit *, void *visit_context);
	void (*node_allocations)(
		void *context, uint32_t slot, state_allocation_visit *, void *visit_context);
	const struct allocation *(*allocation)(void *context, const struct uuid *);
	// The sum over the node's allocations that have not ended.
	struct node_use (*node_use)(void *context, uint32_t slot);
	const struct scheduler_config *(*config)(void *context);
	// What an operator described of a node pool; NULL: nothing.
	const struct node_pool *(*pool)(void *context, const char *name);
	// The name of the quota that has no room for a change in the namespace, as state_quota_lacks(); NULL: this view
	// has no quotas.
	const char *(*quota_lacks)(void *context, const char *namespace_name,
		const struct quota_amount *change, struct array *texts);
	// The same nodes by an index, at least as new as the view, so that a scheduler need not look at all; NULL:
	// nobody keeps one.
	struct fleet *fleet;
	// What others are about to take, which counts like use, and where this evaluation's share is shown to them
	// (placement/direct/claims.h); NULL: there are no others.
	struct claimant *claims;
	uint64_t others_taken; // of them, before the index was brought up to date
	// Every server of the cluster understands disconnected clients (row C8).
	bool supports_disconnect;
};

// As node_alone() and prefetch_node(), whether the view has them or not.
static inline const struct node *view_node_in_no_order(
	const struct scheduler_view *view, uint32_t slot)
{
	return (view->node_alone ? view->node_alone : view->node_at)(view->context, slot);
}
static inline void view_fetch_node(const struct scheduler_view *view, uint32_t slot, bool is_near)
{
	if (view->prefetch_node)
		view->prefetch_node(view->context, slot, is_near);
}

// The daemon's view. Between begin and end the calling thread is in a read section of the state and must not block.
struct scheduler_view state_view_begin(struct state *);
void state_view_end(void);

// A view that passes on to the one below, but for its index. Whoever shows something else puts functions of its own in
// place of some; they get `below`, which must stay where it is, as their context.
struct scheduler_view view_over(struct scheduler_view *below);
