// What a snapshot holds of a node's drains, at the end of its item: u8 1 when it drains, then i64 deadline (ns), i64
// force deadline, i64 started at (unix ns), u8 ignores system jobs; u8 1 when it ever did, then i64 started at, i64
// updated at (unix ns), u8 enum last_drain_status, u8 count, then each, by name: text8 name, text16 value.
#pragma once
#include "state/log/coder.h"
#include "state/records/nodes/drain_meta.h"

struct drain_item {
	bool drains, ever_drained;
	struct drain_strategy drain;
	struct last_drain last; // meta is a view of the next
	struct drain_meta meta; // of an item that was read: drain_meta_release
};

struct drain_item drain_item_of(const struct node *); // a view
coder_function drain_item_code;
