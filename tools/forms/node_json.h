// A node in the form of Nomad's API. Under read lock.
#pragma once
#include "state/records/nodes/node_own.h"
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

// The short form of lists. os: also the name of its operating system.
void node_json_stub(struct json_writer *, const struct node *, bool resources, bool os);
// Such names and values as members of an open object.
void node_json_pairs(struct json_writer *, const struct attribute *, uint32_t count);
void node_json_own(struct json_writer *, struct own_walk);
void node_json(struct json_writer *, struct state *, const struct node *);
// Members "DrainStrategy" and "LastDrain".
void node_json_drain(struct json_writer *, const struct node *);
// Member "Lifecycle": the node's standing, which is beside its status, and its last snapshot.
void node_json_standing(struct json_writer *, const struct state *, const struct node *);
// Member "Clone", of a node that has one: where the clone sends from, and the agent that it is beside.
void node_json_clone(struct json_writer *, const struct state *, const struct node *);
