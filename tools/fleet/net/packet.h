// Ethernet, IPv4 and UDP headers around a frame, for packets that the kernel does not send: a DPDK port, a capture
// file.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define PACKET_HEADER_BYTES 42u

struct packet_flow {
	uint8_t mac_from[6], mac_to[6];
	uint8_t from[4], to[4];
	uint16_t port_from, port_to;
};

// Writes the headers with checksums and copies the frame behind them. Returns the packet's size.
uint32_t packet_wrap(
	const struct packet_flow *, const uint8_t *frame, uint32_t size, uint8_t *packet);
// True when packet is a UDP datagram of the reverse flow; then frame and size are its payload.
bool packet_unwrap(const uint8_t *packet, uint32_t bytes, const uint8_t address[static 4],
	uint16_t port_least, uint16_t ports, const uint8_t **frame, uint32_t *size);
