// Heartbeats as datagrams on the loopback: who sends them, and who only sends them back.
#pragma once
#include "bench/harness/heartbeats.h"
#include <stdatomic.h>

// Sends the next heartbeats to that port of the loopback, and takes the answers, until it is stopped.
void datagrams_generate(struct heartbeats *, uint16_t udp_port, const _Atomic bool *stop);
// Sends what waits at the socket, BURST_MAX datagrams at most, back as it came. Returns how many that were.
uint32_t datagrams_echo(int fd);
