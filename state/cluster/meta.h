// What a cluster is, as the key meta has it: JSON with id and format; and up to where its log was cut, as the key
// cut has it.
#pragma once
#include "state/cluster/keys.h"
#include <stdbool.h>

#define CLUSTER_FORMAT 1u // of keys and values

struct cluster_meta {
	char id[37]; // of the cluster: a UUID
};

// 0, -ENOENT (no such cluster), -ERROR_VERSION, -ERROR_CORRUPT, or an error of etcd.
int cluster_meta_read(struct etcd *, const char *name, struct cluster_meta *);
// The index behind which the log begins by now.
int cluster_cut_read(struct etcd *, const char *name, uint64_t *index);
// JSON; the caller frees.
char *cluster_meta_write(const struct cluster_meta *);
