// More buckets for hash tables. The applier says when they are due; another thread makes them, beside reads and
// changes.
#pragma once
#include "state/tables/state.h"

// Applier: notes which hash tables need more buckets. True when tables_widen has something to do.
bool tables_want(struct state *);
// Applier: whether so many more allocations would crowd their table; the next tables_want() counts them in.
bool tables_lack(struct state *, uint32_t allocations);
// Adds the wanted buckets. One thread at a time, registered with RCU and outside a read section. The applier may go on.
void tables_widen(struct state *);
// Adds what was gathered (table.h), whose keys were all looked up before, to tables that have buckets for it.
void tables_add_gathered(struct state *);
// A thread that calls tables_widen() when kicked.
struct widener;
int widener_start(struct state *, struct widener **);
void widener_kick(struct widener *);
void widener_finish(struct widener *); // waits until it has nothing to do; outside a read section
void widener_stop(struct widener *);
