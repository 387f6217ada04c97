#include "state/base/time_units.h"
#include "tools/fleet/nodes/fleet.h"

// So many frames without an answer, and nothing else heard for so long, are a controller's silence.
#define UNANSWERED_MAX 2u
#define SILENT_NS NS_PER_S
// A fleet that two controllers send to each other turns no more often.
#define TURN_INTERVAL_NS (100 * NS_PER_MS)

void fleet_heard(struct fleet *f)
{
	f->unanswered = 0;
	f->heard_ns = f->now_ns;
}

static void turn_if_other(struct fleet *f, bool is_other)
{
	fleet_heard(f);
	f->turned_ns = f->now_ns;
	if (is_other && f->transport->turn_to(f->transport, f->servers.current))
		f->counters.turns++;
}

static bool may_turn(const struct fleet *f)
{
	return f->transport->turn_to != NULL && f->servers.count > 0 &&
	       f->now_ns - f->turned_ns >= TURN_INTERVAL_NS;
}

void fleet_missed(struct fleet *f)
{
	f->unanswered++;
	if (f->unanswered >= UNANSWERED_MAX && f->now_ns - f->heard_ns >= SILENT_NS && may_turn(f))
		turn_if_other(f, servers_next(&f->servers));
}

void fleet_redirect(struct fleet *f, const struct wire_endpoint *leader)
{
	if (may_turn(f))
		turn_if_other(f, servers_follow(&f->servers, leader));
}
