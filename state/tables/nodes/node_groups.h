// Nodes by the snapshot that they ran last, idle and busy ones apart (rows E1, E22, E23), for who puts work where its
// data is already. The group "" is always there. One that nodes left otherwise than by new work stays when it is empty,
// until there is no room for another.
//
// Nodes are numbers from 0 on: slots of the node table, or whatever else numbers them densely. One thread at a time.
#pragma once
#include "state/base/text.h"
#include <stdbool.h>
#include <stdint.h>

struct node_groups;

#define NODE_GROUP_NONE 0xffffffffu
#define NODE_GROUP_EMPTY 0u // the group "" is always this one
#define NODE_GROUP_NO_NODE 0xffffffffu

// groups_max: beside "". NULL when memory is short.
struct node_groups *node_groups_create(uint32_t nodes_max, uint32_t groups_max);
void node_groups_destroy(struct node_groups *);

// A node that is in no group enters one, made when it is not there.
void node_groups_join(struct node_groups *, uint32_t node, struct text snapshot, bool busy);
// It is in no group from then on; its group stays. Of one that is in none: nothing.
void node_groups_leave(struct node_groups *, uint32_t node);
// Work with that snapshot begins on it: it is busy in that group, and the one that it left is gone when it is empty.
void node_groups_schedule(struct node_groups *, uint32_t node, struct text snapshot);
// It enters the group "" as it is, busy or idle; the one that it left stays.
void node_groups_rejoin(struct node_groups *, uint32_t node);
// In the group that it is in.
void node_groups_set_busy(struct node_groups *, uint32_t node, bool busy);

bool node_groups_has(const struct node_groups *, uint32_t node);
bool node_groups_is_busy(const struct node_groups *, uint32_t node);
// Where it is: "" too when all groups had nodes in them and there was no room for one more.
const char *node_groups_snapshot(const struct node_groups *, uint32_t node);

// A group by its snapshot, or NODE_GROUP_NONE; and all of them: *cursor begins as 0.
uint32_t node_groups_find(const struct node_groups *, struct text snapshot);
uint32_t node_groups_next(const struct node_groups *, uint32_t *cursor);
uint32_t node_groups_count(const struct node_groups *);
const char *node_group_snapshot(const struct node_groups *, uint32_t group);
uint32_t node_group_size(const struct node_groups *, uint32_t group, bool busy);
// Its nodes, the newest first; NODE_GROUP_NO_NODE: no more.
uint32_t node_group_first(const struct node_groups *, uint32_t group, bool busy);
uint32_t node_group_after(const struct node_groups *, uint32_t node);
