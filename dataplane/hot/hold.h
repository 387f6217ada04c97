// Holds back the judgement that nodes are down while it is likelier that the controller is cut off than that they died:
// the port's link is down, its XDP program is another's, it heard nothing from anybody for a whole time to live, or too
// much of the fleet fell silent within one. Each worker has a hold of its own over the nodes that it owns, and steps it
// itself; what concerns the whole fleet, all workers see alike.
//
//	none → held → none, once no cause has been there for a time to live (which lets nodes that are back beat first)
//	held → released, by an operator: expiry goes on unbounded until the causes have gone
//	held → draining, after hold_ms: expiry goes on at a bounded rate until the causes have gone
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum hold_state {
	HOLD_NONE,
	HOLD_RELEASED,
	HOLD_DRAINING,
	HOLD_HELD
}; // in order of how much is held back

enum hold_cause {
	HOLD_LINK_DOWN = 1,
	HOLD_PROGRAM_LOST =
		2, // holds until it is back or somebody releases: the fault is ours, however long it takes
	HOLD_PORT_SILENT = 4,
	HOLD_MASS = 8,
};

// Fewer silent nodes than this are never too many.
#define HOLD_MASS_NODES_MIN 50u
// A draining fleet expires by this part of it a second, and by so many nodes at least.
#define HOLD_DRAIN_PART 100u
#define HOLD_DRAIN_NODES_MIN 10u
// The expired of the last time to live are counted in so many steps.
#define HOLD_WINDOW_STEPS 8u

struct hold_limits {
	uint32_t ttl_ms;
	uint32_t
		mass_percent; // of the fleet; 0 or 100: silence, of nodes or of a port, holds nothing
	uint64_t hold_ms;     // then it drains
};

// What a worker sees when it steps its hold.
struct hold_view {
	uint64_t alive_ns; // time of the worker's liveness clock
	uint64_t nodes,
		silent;     // of all workers: armed, and silent for longer than half a time to live
	uint64_t expired;   // of all workers: reported since the start
	uint64_t own_nodes; // armed, of this worker
	uint64_t port_nodes;  // armed, of the workers of its port
	uint64_t port_frames; // authentic ones that they received since the start
	uint32_t releases;    // by operators, since the start
	bool link_down, program_lost;
};

struct expiry_hold {
	enum hold_state state;
	uint32_t
		causes; // enum hold_cause, at the last step or, while they fade, at the last that had any
	bool is_bounded; // the sweep may expire `left` more nodes
	uint32_t left;
	uint64_t since_ns, cause_ns, stepped_ns, heard_ns; // all on the liveness clock
	uint64_t port_frames;
	uint32_t releases;
	uint64_t drain_rate;                 // nodes a second, of the whole fleet
	uint64_t drain_credit;               // billionths of a node
	uint64_t expired[HOLD_WINDOW_STEPS]; // as they were in the last time to live
	uint32_t expired_at;
	uint64_t expired_due_ns;
};

// heard_ns: until when nobody is expected to have been heard, on the liveness clock.
void hold_start(struct expiry_hold *, uint64_t heard_ns);
// A few times in a tenth of the time to live. Returns true when a hold began with this step.
bool hold_step(struct expiry_hold *, const struct hold_limits *, const struct hold_view *);
