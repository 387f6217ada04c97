// From where clients come, and what each place has of the server: connections, and bytes of bodies and answers.
//
// A place gets more only while it then has no more than stays free. One greedy place ends at a half, two at a third
// each, and so on: whoever comes next always finds as much as the greediest has.
#pragma once
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct guests;
struct guest;

// An address; of IPv6 its network of 64 bits, of which one client has all addresses. A node, or whoever has the socket.
struct guest_key {
	uint8_t bytes[17];
};
// False: it is no address of a network.
bool guest_key_of_address(const struct sockaddr *, struct guest_key *);
struct guest_key guest_key_of_node(const struct uuid *);
struct guest_key guest_key_of_socket(void);

// connections_of_one_max: of one place whatever is free; 0: no more than the rule says.
struct guests *guests_create(
	uint32_t connections_max, uint32_t connections_of_one_max, uint64_t bytes_max);
void guests_destroy(struct guests *);

// Any thread.
// Whether one more connection may come from there; one that may not is counted.
bool guests_have_room(struct guests *, const struct guest_key *);
// counts: the connection is one of those that connections_max is about. is_over: whether others entered since it was
// asked for room, and it is to be ended, which is counted; it enters all the same.
struct guest *guest_enter(struct guests *, const struct guest_key *, bool counts, bool *is_over);
void guest_leave(struct guests *, struct guest *, bool counts);
// False: it would have too many; it has no more then, and that is counted. must: it has them whatever the rule says.
bool guest_take_bytes(struct guests *, struct guest *, uint64_t bytes, bool must);
void guest_give_bytes(struct guests *, struct guest *, uint64_t bytes);

struct guests_counts {
	uint32_t places;              // that somebody is connected from
	uint64_t bytes, bytes_most;   // held now, and at most so far
	uint64_t refused_connections; // of places that had as many as may be
	uint64_t refused_bytes;       // requests for want of memory
};
void guests_count(struct guests *, struct guests_counts *);
