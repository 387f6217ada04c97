// Five hundred nodes over real sockets, against a controller in miniature, for tests.
#pragma once
#include "tests/tools/client/responder.h"
#include "tools/fleet/fleet_step.h"
#include "tools/fleet/nodes/fleet.h"
#include "tools/fleet/work/running.h"

#define NODES 500u
#define TASK "\"Driver\":\"mock\""
#define WITH_SERVER(t) cmocka_unit_test_setup_teardown(t, fleet_up, fleet_down)

extern struct responder *server;
extern struct transport *transport;
extern struct fleet fleet;
extern struct shapes shapes;
extern struct fleet_settings settings;
extern char fleet_message[300];

int fleet_up(void **unused);
int fleet_down(void **unused);
// Allocations are run.
void run_allocations(double run_for_s, double fail_share);

// Real time, but that it stands still while this thread is kept from its work, and all but stands still while the
// controller's is behind: on a machine that is too busy for so many beats nothing is late. It passes in turns alone.
extern const struct time_source fleet_time;
void fleet_turn(void);

// Turns the fleet until the condition holds, for two minutes at most.
#define TURN_UNTIL(condition)                                                              \
	do {                                                                               \
		uint64_t end_ns_ = time_monotonic_ns(&time_source_real) + 120000000000ull; \
		while (!(condition)) {                                                     \
			fleet_turn();                                                      \
			if (time_monotonic_ns(&time_source_real) > end_ns_)                \
				fail_msg("never: %s", #condition);                         \
		}                                                                          \
	} while (0)

void turn_ms(uint32_t ms);
