// Nodes by the snapshot that they ran last, idle and busy nodes apart (rows E1, E22, E23), so that work can go where
// its data is already. The group "" is always there. Another group that nodes left otherwise than by new work stays
// when it is empty, until its room is needed.
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

// groups_max: how many groups there may be, without the group "", before empty ones are dropped. NULL when memory is
// short.
struct node_groups *node_groups_create(uint32_t nodes_max, uint32_t groups_max);
void node_groups_destroy(struct node_groups *);

// A node that is in no group enters the snapshot's group, which is made if needed.
void node_groups_join(struct node_groups *, uint32_t node, struct text snapshot, bool busy);
// Takes the node out of its group, if it is in one; the group stays.
void node_groups_leave(struct node_groups *, uint32_t node);
// Work with the snapshot begins on the node: it is busy in the snapshot's group, and its former group is dropped when
// empty.
void node_groups_schedule(struct node_groups *, uint32_t node, struct text snapshot);
// The node enters the group "", busy or idle as it is; its former group stays.
void node_groups_rejoin(struct node_groups *, uint32_t node);
// Makes the node busy or idle in its group.
void node_groups_set_busy(struct node_groups *, uint32_t node, bool busy);

bool node_groups_has(const struct node_groups *, uint32_t node);
bool node_groups_is_busy(const struct node_groups *, uint32_t node);
// The snapshot of the node's group.
const char *node_groups_snapshot(const struct node_groups *, uint32_t node);

// A group by its snapshot, or NODE_GROUP_NONE; and all of them: *cursor begins as 0.
uint32_t node_groups_find(const struct node_groups *, struct text snapshot);
uint32_t node_groups_next(const struct node_groups *, uint32_t *cursor);
uint32_t node_groups_count(const struct node_groups *);
const char *node_group_snapshot(const struct node_groups *, uint32_t group);
uint32_t node_group_size(const struct node_groups *, uint32_t group, bool busy);
// The nodes of a group, the newest first; NODE_GROUP_NO_NODE: no more.
uint32_t node_group_first(const struct node_groups *, uint32_t group, bool busy);
uint32_t node_group_after(const struct node_groups *, uint32_t node);
