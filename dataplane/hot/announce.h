// Says unasked that an address is at a port now, to who knew it elsewhere: a gratuitous ARP request (RFC 5227), or an
// unsolicited neighbour advertisement that overrides what is known (RFC 4861, section 7.2.6).
#pragma once
#include "dataplane/hot/hot_worker.h"

// Each writes a frame into data, ANNOUNCE_BYTES_MAX at least. Returns its size.
#define ANNOUNCE_BYTES_MAX 96u
uint32_t announce_ipv4(const struct hot_port *, const uint8_t *address, uint8_t *data);
uint32_t announce_ipv6(const struct hot_port *, const uint8_t *address, uint8_t *data);
