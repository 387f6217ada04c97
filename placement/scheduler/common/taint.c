#include "placement/scheduler/common/taint.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/check.h"

// Facts about one allocation; the rules below are tried in order.
struct facts {
	const struct node *node; // NULL: gone
	bool tainted, supports;  // node is tainted; group and cluster support disconnecting
	bool returns, expired;   // of an allocation that may reconnect, or was unknown for too long
};

static bool may_return(const struct allocation *a)
{
	return a->client_status == ALLOC_UNKNOWN || a->client_status == ALLOC_RUNNING ||
	       a->client_status == ALLOC_FAILED;
}

static struct facts facts_of(
	const struct scheduler_view *view, const struct allocation *a, int64_t now_ns)
{
	struct facts f = {.node = allocation_node(view, a)};
	f.tainted = node_is_tainted(f.node);
	f.supports = allocation_supports_disconnect(a, view->supports_disconnect);
	f.returns = f.supports && may_return(a) && allocation_needs_reconnect(a);
	f.expired = f.supports && allocation_is_expired(a, now_ns);
	CHECK(f.supports || !(f.returns || f.expired));
	return f;
}

static enum taint returning(const struct facts *f)
{
	CHECK(f->returns && f->supports);
	return f->expired ? TAINT_LOST : TAINT_RECONNECTING;
}

// Rule 2: a tainted node that is not gone. TAINT_NONE: no part of the rule applies.
static enum taint taint_by_node(const struct facts *f, const struct allocation *a)
{
	CHECK(f->tainted || f->node);
	if (!f->tainted || !f->node)
		return TAINT_NONE;
	if (f->node->status == NODE_DISCONNECTED) {
		if (!f->supports || a->client_status == ALLOC_PENDING)
			return TAINT_LOST;
		return a->client_status == ALLOC_RUNNING ? TAINT_DISCONNECTING : TAINT_NONE;
	}
	return f->node->status == NODE_READY && f->returns ? returning(f) : TAINT_NONE;
}

enum taint allocation_taint(
	const struct scheduler_view *view, const struct allocation *a, int64_t now_ns)
{
	CHECK(a->client_status <= ALLOC_UNKNOWN);
	struct facts f = facts_of(view, a, now_ns);
	bool failed = a->client_status == ALLOC_FAILED;
	if (f.returns && a->desired == ALLOC_RUN && failed)
		return TAINT_RECONNECTING;
	enum taint by_node = taint_by_node(&f, a);
	if (by_node != TAINT_NONE)
		return by_node;
	if (allocation_is_terminal(a) && !f.returns)
		return f.supports ? TAINT_IGNORE : TAINT_NONE;
	if (allocation_is_to_migrate(a))
		return TAINT_MIGRATE;
	if (f.expired)
		return TAINT_LOST;
	if (f.supports && a->client_status == ALLOC_UNKNOWN && a->desired == ALLOC_RUN)
		return TAINT_NONE;
	if (f.returns && failed && a->desired == ALLOC_STOP)
		return TAINT_IGNORE;
	if (!f.tainted)
		return f.returns ? returning(&f) : TAINT_NONE;
	return node_is_lost(f.node) ? TAINT_LOST : TAINT_NONE;
}
