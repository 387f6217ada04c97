// What the packet path sees of a packet: plain bytes. No DPDK type here, so tests, fuzzers and a
// simulation run the very same code from arrays.
#pragma once
#include "state/base/limits.h"
#include <stdint.h>

enum packet_verdict {
	PACKET_DROP,  // release it
	PACKET_REPLY, // data/size now hold an answer: send it out of the port it came from
};

struct packet {
	uint8_t *data;     // Ethernet header first; writable
	uint32_t size;     // bytes in this (only) segment
	uint32_t capacity; // bytes that may be written at data
	uint8_t verdict;   // set by the packet path
	uint8_t checksum;  // enum packet_checksum, as the port reported it
	uint8_t segments;  // more than 1: dropped and counted
};

enum packet_checksum { PACKET_CHECKSUM_UNKNOWN, PACKET_CHECKSUM_GOOD, PACKET_CHECKSUM_BAD };
