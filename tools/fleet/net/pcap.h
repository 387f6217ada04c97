// A capture file (pcap, Ethernet, microseconds) of what the fleet sends.
#pragma once
#include <stdint.h>
#include <stdio.h>

struct pcap {
	FILE *file;
	const char *path;
	uint64_t packets;
};

// Returns 0, or -errno.
int pcap_create(struct pcap *, const char *path);
void pcap_add(struct pcap *, const uint8_t *packet, uint32_t size, uint64_t wall_ns);
// Returns 0, or -errno when part of the file could not be written.
int pcap_close(struct pcap *);
