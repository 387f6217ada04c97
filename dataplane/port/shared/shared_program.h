// What the XDP program of a shared port and its user space agree on.
#pragma once
#include <linux/types.h>

#define SHARED_PROGRAM_NAME "berth_shared" // at most 15 bytes: the kernel keeps no more
#define SHARED_AIM_MAP "berth_aim"
#define SHARED_ADDRESSES_MAP "berth_addresses"
#define SHARED_ADDRESSES_MAX 64

// A key of the map of addresses. The bytes behind those of IPv4 are zero.
struct shared_address {
	__u32 version; // of IP
	__u8 bytes[16];
};
