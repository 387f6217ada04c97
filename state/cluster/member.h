// A member as the keys members/ID and leader have it: JSON.
#pragma once
#include "state/cluster/cluster_status.h"

#define CLUSTER_MEMBER_TOO_LONG                                                                   \
	"name, cluster.advertise_http or cluster.advertise_wire is too long: a name may have 63 " \
	"bytes, an address 127"
// What a member says of itself. False: a text is too long.
bool cluster_member_fill(struct cluster_member *, const char *id, const char *name,
	const char *http, const char *wire);
// With the format of the log that this program reads. The caller frees.
char *cluster_member_write(const struct cluster_member *);
bool cluster_member_read(const void *json, uint32_t size, struct cluster_member *);
