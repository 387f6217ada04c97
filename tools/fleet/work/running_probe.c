// The probe of a simulated node: ready, unless a fault says otherwise. The node reports it while the controller asks
// for it. A node that a report called not ready registers again once it is ready.
#include "tools/fleet/work/running_probe.h"
#include "tools/fleet/nodes/fleet.h"

#define BACKOFF_MS 1000u // between answers

void running_hear_probe(struct running *r, uint32_t node)
{
	struct running_node *n = &r->nodes[node];
	const struct fleet_node *fleet_node = &r->fleet->nodes[node];
	bool is_wanted = fleet_node->session.directives & WIRE_DIRECTIVE_PROBE;
	if (!(fleet_node->flags & FLEET_UNREADY) && (n->flags & RUNNING_WAS_UNREADY)) {
		fleet_announce(r->fleet, node);
		return;
	}
	if (!is_wanted)
		n->flags &= (uint8_t)~RUNNING_PROBED;
	else if (fleet_now_ms(r->fleet) >= n->probe_ms)
		n->flags |= RUNNING_PROBED;
	if (!n->awaiting && (n->flags & RUNNING_PROBED))
		running_enqueue(r, node);
}

uint32_t running_encode_readiness(struct running *r, uint32_t node, uint8_t *frame)
{
	bool is_ready = !(r->fleet->nodes[node].flags & FLEET_UNREADY);
	r->nodes[node].told_ready = is_ready;
	struct wire_readiness readiness = {is_ready, is_ready ? 0 : BACKOFF_MS};
	return wire_readiness_encode(frame, FRAME_BYTES_MAX, running_header(r, node), &readiness);
}

// The probe's answer may change, so that the node reports again as long as the controller asks.
void running_take_readiness(struct running *r, uint32_t node)
{
	r->counters.ready += r->nodes[node].told_ready;
	r->counters.unready += !r->nodes[node].told_ready;
	r->nodes[node].flags &= (uint8_t)~RUNNING_PROBED;
	r->nodes[node].probe_ms = fleet_now_ms(r->fleet) + BACKOFF_MS;
}
