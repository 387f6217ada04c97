// Blocking queries: ?index= and ?wait= of routes that watch something.
#pragma once
#include "tools/api/server/parking.h"

// True when the request asks to wait for a newer index than it has seen; sets its wait index and *deadline_ns. Fills
// the reply when a parameter does not parse.
bool blocking_query_wanted(struct request *, uint64_t *deadline_ns, struct reply *);
// True when a blocking query has its answer. Under no read lock.
bool blocking_query_is_over(struct request *);
// For parking_park; the context is the request.
extern const struct parked_kind blocking_query_kind;

// For route_watched: when a table last changed, as far as this process knows.
uint64_t table_index(const struct request *, enum state_table);
// Of a list: the index of the last change to what its query watches, which is to be read before the list is collected.
uint64_t list_index(const struct request *);
