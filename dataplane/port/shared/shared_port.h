// A port that shares its interface with the kernel: an XDP program hands it the datagrams that are for Berth, and the
// kernel everything else, so that the kernel keeps its addresses, ARP and ssh. Control path.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include <stdint.h>

// A path under which this process reads the compiled program for as long as it lives. Returns 0 or a negative error.
int shared_port_program(const char **path);
// Takes away the program that a berthd left on the interface when it was killed; the caller holds the port's lock, so
// none has it any more. Fails with -EBUSY when another program is there, whose name it gives.
#define SHARED_PORT_NAME_BYTES 16
int shared_port_clear(const char *interface, char other[static SHARED_PORT_NAME_BYTES]);
// Tells the program, by its number, which datagrams are Berth's: from then on they come. Returns 0 or a negative error.
int shared_port_aim(uint32_t program, const struct hot_port *);
