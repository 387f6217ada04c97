// A key with its value as etcd's answers show it.
#pragma once
#include "state/etcd/etcd.h"
#include "state/etcd/etcd_json.h"

// Views into the answer, which is changed. Returns the bytes of the key: others than Berth may use a NUL.
uint32_t etcd_item_read(struct etcd_json *, struct etcd_item *);
