// Heartbeats over an io of ports of the kernel's interfaces: a generator of datagrams in one network namespace, the
// packet path over a port in another, a veth pair between them; beside a bare socket at another such pair, from which
// a loop only sends back what came.
#pragma once
#include "bench/harness/bench.h"

#define KERNEL_IOS 4u

struct kernel_io {
	const char *name;      // as in a port's settings, and of the rate
	const char *core_name; // of what one core could do
	bool is_beside_kernel; // the kernel has the port's address
};
extern const struct kernel_io kernel_ios[KERNEL_IOS];

// Reports heartbeats answered a second, as the generator sees them, and answered in a second that the core is busy. The
// calling process, which must have no EAL and one thread, stays in its namespace. cores: of the packet path and of the
// generator. Returns an exit code: 77 when this io cannot be had here, which it has said, with the reason.
int kernel_io_measure(struct bench *, const struct kernel_io *, const int cores[2], uint32_t nodes);
