// Requests until they have an answer: asked at one endpoint after the other, as long as nothing can be done twice.
#pragma once
#include "state/etcd/etcd_json.h"
#include "state/etcd/etcd_line.h"

struct etcd_call {
	const char *path;
	void (*write)(struct bytes_writer *, const void *request);
	const void *request;
	// 0 or a negative error, -EPROTO when it can not be read.
	int (*read)(struct etcd_json *, void *result);
	void *result;
	bool is_transaction; // is not repeated when it may have been done, and counts as one
	int error;           // when it is done
};

// Begins them in their order, at most `together` on their way at a time. Returns 0, or the first error.
int etcd_call_many(
	struct etcd *, struct etcd_call *, uint32_t count, uint32_t together, uint32_t timeout_ms);
// One.
int etcd_call(struct etcd *, struct etcd_call, uint32_t timeout_ms);

// The revision in the header of an answer, whose value comes next.
uint64_t etcd_header_revision(struct etcd_json *);
