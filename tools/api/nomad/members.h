// The members of the cluster as Nomad's clients know servers. Without a cluster: this server alone.
#pragma once
#include "tools/api/server/request.h"

#define MEMBER_HOST_BYTES 256u
#define MEMBER_ADDRESS_BYTES 300u

// What this server knows of its cluster; alone, it leads one of one.
struct membership {
	bool is_cluster;
	struct cluster_status status;
};
void membership_read(const struct api *, struct membership *);

struct member_address {
	char host[MEMBER_HOST_BYTES];
	uint16_t port;
	char text[MEMBER_ADDRESS_BYTES]; // "HOST:PORT", an address of IPv6 in brackets; "": none
};
// Of the URL at which a member answers HTTP.
struct member_address member_address_of(const char *url);

// "NAME.REGION"
void member_full_name(
	const struct api *, const struct cluster_member *, char name[static MEMBER_ADDRESS_BYTES]);
// Of whoever leads, "HOST:PORT"; "": nobody is known to.
void leader_address(const struct api *, char text[static MEMBER_ADDRESS_BYTES]);
// The member with this id or address; NULL: there is none.
const struct cluster_member *member_find(
	const struct membership *, const char *id, const char *address);
