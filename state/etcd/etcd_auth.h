// The token that etcd gives for user and password, and wants with each request.
#pragma once
#include "state/etcd/etcd_line.h"

// Whether there is a user but no token yet. etcd without authentication gives none, and wants none.
bool etcd_token_is_missing(struct etcd *);
// Asks an endpoint for a new token. `refused` is the number of the token that was refused, or
// ETCD_NO_TOKEN: if another thread has a newer one by now, nothing is asked. 0, or a negative error.
int etcd_token_renew(struct etcd *, uint32_t endpoint, uint64_t refused, struct etcd_limits);
