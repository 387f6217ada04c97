#include "dataplane/port/packet_io_memory.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 2048u

struct cell {
	uint8_t data[CELL_BYTES];
	uint32_t size;
	uint8_t segments, checksum;
};

// A bounded queue of packets; head and tail only grow.
struct direction {
	struct cell *cells;
	uint32_t capacity;
	uint64_t head, tail;
};

struct memory_wire {
	struct direction in, out;
	struct cell lent[2 * BURST_MAX]; // what the worker holds: one received and one taken burst
	bool lent_busy[2 * BURST_MAX];
	uint32_t sends_left;
};

static bool direction_put(
	struct direction *d, const uint8_t *data, uint32_t size, uint8_t segments, uint8_t checksum)
{
	if (d->tail - d->head == d->capacity || size > CELL_BYTES)
		return false;
	struct cell *cell = &d->cells[d->tail++ % d->capacity];
	memcpy(cell->data, data, size);
	cell->size = size;
	cell->segments = segments;
	cell->checksum = checksum;
	return true;
}

static const struct cell *direction_get(struct direction *d)
{
	return d->head == d->tail ? NULL : &d->cells[d->head++ % d->capacity];
}

struct memory_wire *memory_wire_create(uint32_t packets_max)
{
	struct memory_wire *wire = memory_take(sizeof *wire);
	wire->in = (struct direction){
		memory_take_array(packets_max, sizeof(struct cell)), packets_max, 0, 0};
	wire->out = (struct direction){
		memory_take_array(packets_max, sizeof(struct cell)), packets_max, 0, 0};
	wire->sends_left = UINT32_MAX;
	return wire;
}

void memory_wire_destroy(struct memory_wire *wire)
{
	for (uint32_t i = 0; i < 2 * BURST_MAX; i++)
		CHECK(!wire->lent_busy[i]);
	free(wire->in.cells);
	free(wire->out.cells);
	free(wire);
}

// Lends a cell to the worker. Every lent packet must come back through finish().
static void lend(struct memory_wire *wire, struct packet_burst *burst, const struct cell *from)
{
	uint32_t i = 0;
	while (i < 2 * BURST_MAX && wire->lent_busy[i])
		i++;
	CHECK(i < 2 * BURST_MAX);
	struct cell *cell = &wire->lent[i];
	wire->lent_busy[i] = true;
	*cell = (struct cell){.segments = 1};
	if (from != NULL)
		*cell = *from;
	burst->handles[burst->count] = cell;
	burst->packets[burst->count++] = (struct packet){.data = cell->data,
		.size = cell->size,
		.capacity = CELL_BYTES,
		.checksum = cell->checksum,
		.segments = cell->segments};
}

static void array_receive(void *context, struct packet_burst *burst)
{
	struct memory_wire *wire = context;
	burst->count = 0;
	const struct cell *cell;
	while (burst->count < BURST_MAX && (cell = direction_get(&wire->in)) != NULL)
		lend(wire, burst, cell);
}

static void array_take(void *context, struct packet_burst *burst, uint32_t count)
{
	burst->count = 0;
	while (burst->count < count && burst->count < BURST_MAX)
		lend(context, burst, NULL);
}

static uint32_t array_finish(void *context, struct packet_burst *burst)
{
	struct memory_wire *wire = context;
	uint32_t refused = 0;
	for (uint32_t i = 0; i < burst->count; i++) {
		struct packet *packet = &burst->packets[i];
		struct cell *cell = burst->handles[i];
		wire->lent_busy[cell - wire->lent] = false;
		if (packet->verdict != PACKET_REPLY)
			continue;
		bool sent =
			wire->sends_left > 0 && direction_put(&wire->out, packet->data,
							packet->size, 1, PACKET_CHECKSUM_UNKNOWN);
		wire->sends_left -= sent;
		refused += !sent;
	}
	burst->count = 0;
	return refused;
}

struct packet_io memory_wire_io(struct memory_wire *wire)
{
	return (struct packet_io){.context = wire,
		.receive = array_receive,
		.take = array_take,
		.finish = array_finish};
}

bool memory_wire_put(struct memory_wire *wire, const uint8_t *data, uint32_t size)
{
	return memory_wire_put_as(wire, data, size, 1, PACKET_CHECKSUM_UNKNOWN);
}

bool memory_wire_put_as(struct memory_wire *wire, const uint8_t *data, uint32_t size,
	uint8_t segments, uint8_t checksum)
{
	return direction_put(&wire->in, data, size, segments, checksum);
}

uint32_t memory_wire_get(struct memory_wire *wire, uint8_t *data, uint32_t capacity)
{
	const struct cell *cell = direction_get(&wire->out);
	if (cell == NULL)
		return 0;
	memcpy(data, cell->data, cell->size < capacity ? cell->size : capacity);
	return cell->size;
}

void memory_wire_limit_sends(struct memory_wire *wire, uint32_t sends)
{
	wire->sends_left = sends;
}
