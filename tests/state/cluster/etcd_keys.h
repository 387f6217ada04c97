// The etcd of a group of tests, and the keys of their cluster, as somebody else than its members reads and writes them.
#pragma once
#include "state/cluster/keys.h"
#include "state/cluster/log_piece.h"
#include "tests/support/etcd/etcd_server.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// For a group of tests: starts etcd and opens it, with as much room as it likes, or with little, and the end of both.
int etcd_keys_begin(void **);
int etcd_keys_begin_small(void **);
int etcd_keys_end(void **);
struct etcd_server *etcd_keys_server(void);
void etcd_keys_put(const char *what, const void *value, uint32_t size);
int etcd_keys_try_put(const char *what, const void *value, uint32_t size); // 0, or the error
// The same under the lease that another key has.
void etcd_keys_put_beside(const char *what, const void *value, uint32_t size, const char *other);
void etcd_keys_delete(const char *what);
void etcd_keys_remove_all(void);
uint32_t etcd_keys_count(const char *folder); // "": all of the cluster's
// What a key has; NULL: there is none. The caller frees.
uint8_t *etcd_keys_get(const char *what, uint32_t *size);
uint64_t etcd_keys_number(const char *what); // 0: there is none

// Pieces of the log. The index of its newest batch; 0: it is empty.
uint64_t etcd_keys_newest_index(void);
bool etcd_keys_has_piece(uint64_t first_index, uint32_t piece);
// A piece of a batch that takes one index, of a leadership that ended long ago.
void etcd_keys_put_piece(uint64_t first_index, uint32_t piece, const uint8_t *batch, uint32_t size);
