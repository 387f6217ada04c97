// Two wires between a process and its child, pairs of veth with each end in the network namespace of its process.
// Nobody else has the namespaces, so that they are gone with the processes, however those end.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WIRES 2u
// Of wire 0 and 1: the interface at this end, and the addresses of this end and of the child's.
#define WIRE_NEAR_DEVICES ((const char *const[WIRES]){"near0", "near1"})
#define WIRE_NEAR_ADDRESSES ((const char *const[WIRES]){"10.78.0.1", "10.78.1.1"})

// Takes the calling process, which has one thread, to a network namespace of its own, which /sys shows, too. Returns 0
// or a negative error.
int wires_leave(void);
// Lays the wires to the child, which has left as well. The kernel has the addresses of their ends, but not that of the
// near end of wire 0 if that is another's. False: message says why.
bool wires_lay(pid_t child, bool is_near0_of_kernel, char *message, uint32_t message_size);
