// A wire made of arrays: the worker receives what a test puts in, and the test takes what the worker sends. One
// thread.
#pragma once
#include "dataplane/port/packet_io.h"
#include <stdbool.h>

struct memory_wire;

// packets_max bounds both directions; a full one drops. Caller destroys.
struct memory_wire *memory_wire_create(uint32_t packets_max);
void memory_wire_destroy(struct memory_wire *);
struct packet_io memory_wire_io(struct memory_wire *);

// Puts a packet that the worker will receive. False when the wire is full or size is more than a packet holds.
bool memory_wire_put(struct memory_wire *, const uint8_t *data, uint32_t size);
// As put, with the segment count and checksum verdict a port would have reported.
bool memory_wire_put_as(struct memory_wire *, const uint8_t *data, uint32_t size, uint8_t segments,
	uint8_t checksum);
// Takes the oldest packet that the worker sent. Returns its size, 0 when there is none. Copies at most capacity.
uint32_t memory_wire_get(struct memory_wire *, uint8_t *data, uint32_t capacity);
// The wire takes this many replies from now on, then refuses more, as a full transmit queue does. Starts unbounded.
void memory_wire_limit_sends(struct memory_wire *, uint32_t sends);
