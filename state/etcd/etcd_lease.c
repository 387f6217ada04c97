#include "state/etcd/etcd_call.h"
#include <errno.h>

struct lease_answer {
	int64_t lease, ttl_s;
};

static void lease_write(struct bytes_writer *w, const void *request)
{
	const int64_t *lease = request;
	ETCD_JSON_PUT(w, "{\"ID\":");
	etcd_json_put_u64(w, (uint64_t)*lease);
	ETCD_JSON_PUT(w, "}");
}

static void grant_write(struct bytes_writer *w, const void *request)
{
	const int64_t *ttl_s = request;
	ETCD_JSON_PUT(w, "{\"TTL\":");
	etcd_json_put_u64(w, (uint64_t)*ttl_s);
	ETCD_JSON_PUT(w, "}");
}

// The answer, or one in a stream: {"result":{…}}.
static int lease_read(struct etcd_json *j, void *context)
{
	struct lease_answer *answer = context;
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "result"))
			lease_read(j, answer);
		else if (etcd_json_is(name, "ID"))
			answer->lease = etcd_json_i64(j);
		else if (etcd_json_is(name, "TTL"))
			answer->ttl_s = etcd_json_i64(j);
		else
			etcd_json_skip(j);
	}
	return j->failed || answer->lease == 0 ? -EPROTO : 0;
}

static int nothing_read(struct etcd_json *j, void *context)
{
	etcd_json_skip(j);
	return 0;
}

int etcd_lease_grant(
	struct etcd *e, int64_t ttl_s, uint32_t timeout_ms, int64_t *lease, int64_t *granted_s)
{
	struct lease_answer answer = {0};
	// One that is granted twice ends by itself.
	struct etcd_call call = {.path = "/v3/lease/grant",
		.write = grant_write,
		.request = &ttl_s,
		.read = lease_read,
		.result = &answer};
	int error = etcd_call(e, call, timeout_ms);
	*lease = error ? 0 : answer.lease;
	*granted_s = error ? 0 : answer.ttl_s;
	return error;
}

int etcd_lease_renew(struct etcd *e, int64_t lease, uint32_t timeout_ms, int64_t *left_s)
{
	struct lease_answer answer = {0};
	struct etcd_call call = {.path = "/v3/lease/keepalive",
		.write = lease_write,
		.request = &lease,
		.read = lease_read,
		.result = &answer};
	int error = etcd_call(e, call, timeout_ms);
	*left_s = error ? 0 : answer.ttl_s;
	// etcd answers for a lease that ended as for another one, without a time to live.
	return error == 0 && answer.ttl_s <= 0 ? -ENOENT : error;
}

int etcd_lease_revoke(struct etcd *e, int64_t lease, uint32_t timeout_ms)
{
	struct etcd_call call = {.path = "/v3/lease/revoke",
		.write = lease_write,
		.request = &lease,
		.read = nothing_read};
	return etcd_call(e, call, timeout_ms);
}
