// Heartbeats as datagrams of the kernel's sockets: who sends them, and who only sends them back.
#pragma once
#include "bench/harness/heartbeats.h"
#include <stdatomic.h>

#define DATAGRAM_SERVERS 2u

// What the generator is told, and what it tells; in memory that both processes have.
struct datagrams {
	const char *servers[DATAGRAM_SERVERS]; // their IPv4 addresses, before it starts
	_Atomic uint32_t target;               // whom it sends to: 1 and up; 0: nobody
	_Atomic uint64_t answers;              // so far, from whomever
};

// Sends the next heartbeats to the target, 64 at a time, and takes the answers, until the process ends. The servers
// must be reachable once there is a target.
_Noreturn void datagrams_generate(struct heartbeats *, struct datagrams *);
// A socket at the address, with as much room as a port's has. Ends the program when there is none.
int datagrams_open(const char *address);
// Sends what waits at the socket, BURST_MAX datagrams at most, back as it came. Returns how many that were.
uint32_t datagrams_echo(int fd);
