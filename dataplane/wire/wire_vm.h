// A worker's node asks, under its slot and generation, which virtual machines the worker is to run. ALLOC_SPEC says
// what one of them is, and ALLOC_UPDATE reports what became of it, both with the id of its instance: one stay on one
// worker.
//
// VMS
//	24 u64  version     of the list of which a page is asked; 0: of whichever there is, with its first page
//	32 u16  from        first item wanted
//	34 u8   count       1 … 32, at most so many
//	   zeros up to the reply's size
// VMS_REPLY
//	24 u64  version     of the list; another than was asked for: begin again
//	32 u16  from
//	34 u8   count, u8 more (1: ask on, from the first that is not here)
//	36 count times (32 bytes): uuid instance, u64 version (grows when what its worker is to do with it changes),
//	   u8 power (enum wire_vm_power), 7 reserved; with WIRE_FLAG_TERM u64 term
#pragma once
#include "dataplane/wire/wire.h"

enum wire_vm_power { WIRE_VM_RUNNING, WIRE_VM_STOPPED, WIRE_VM_SUSPENDED };

static inline uint32_t wire_vms_reply_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 12 + 32 * count;
}

struct wire_vms {
	uint64_t version;
	uint16_t from;
	uint8_t count;
};
struct wire_vm_item {
	struct uuid instance;
	uint64_t version;
	uint8_t power;
};
struct wire_vms_reply {
	uint64_t version;
	uint16_t from;
	uint8_t count, more;
	uint64_t term; // with WIRE_FLAG_TERM
	struct wire_vm_item items[VM_ITEMS_MAX];
};

bool wire_vms_decode(const uint8_t *frame, const struct wire_header *, struct wire_vms *);
uint32_t wire_vms_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_vms *);
bool wire_vms_reply_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_vms_reply *);
uint32_t wire_vms_reply_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_vms_reply *);
