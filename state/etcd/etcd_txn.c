#include "state/base/memory.h"
#include "state/etcd/etcd_call.h"
#include <errno.h>
#include <stdlib.h>

static void put_compare(struct bytes_writer *w, const struct etcd_compare *c)
{
	ETCD_JSON_PUT(w, "{\"key\":");
	etcd_json_put_key(w, c->key);
	if (c->is_creation)
		ETCD_JSON_PUT(w, ",\"target\":\"CREATE\",\"create_revision\":");
	else
		ETCD_JSON_PUT(w, ",\"target\":\"MOD\",\"mod_revision\":");
	etcd_json_put_u64(w, c->revision);
	ETCD_JSON_PUT(w, "}");
}

static void put_put(struct bytes_writer *w, const struct etcd_put *p)
{
	ETCD_JSON_PUT(w, "{\"request_put\":{\"key\":");
	etcd_json_put_key(w, p->key);
	ETCD_JSON_PUT(w, ",\"value\":");
	etcd_json_put_bytes(w, p->value, p->size);
	if (p->lease) {
		ETCD_JSON_PUT(w, ",\"lease\":");
		etcd_json_put_u64(w, (uint64_t)p->lease);
	}
	ETCD_JSON_PUT(w, "}}");
}

static void put_delete(struct bytes_writer *w, const struct etcd_delete *d)
{
	ETCD_JSON_PUT(w, "{\"request_delete_range\":{\"key\":");
	etcd_json_put_key(w, d->key);
	if (d->end) {
		ETCD_JSON_PUT(w, ",\"range_end\":");
		etcd_json_put_key(w, d->end);
	}
	ETCD_JSON_PUT(w, "}}");
}

static void txn_comma(struct bytes_writer *w, uint32_t at)
{
	if (at)
		ETCD_JSON_PUT(w, ",");
}

static void txn_write(struct bytes_writer *w, const void *request)
{
	const struct etcd_txn *t = request;
	uint32_t at = 0;
	ETCD_JSON_PUT(w, "{\"compare\":[");
	for (uint32_t i = 0; i < t->compare_count; i++) {
		txn_comma(w, i);
		put_compare(w, &t->compares[i]);
	}
	ETCD_JSON_PUT(w, "],\"success\":[");
	for (uint32_t i = 0; i < t->put_count; i++) {
		txn_comma(w, at++);
		put_put(w, &t->puts[i]);
	}
	for (uint32_t i = 0; i < t->delete_count; i++) {
		txn_comma(w, at++);
		put_delete(w, &t->deletes[i]);
	}
	ETCD_JSON_PUT(w, "]}");
}

static int txn_read(struct etcd_json *j, void *context)
{
	struct etcd_txn_result *result = context;
	struct text name;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "header"))
			result->revision = etcd_header_revision(j);
		else if (etcd_json_is(name, "succeeded"))
			result->succeeded = etcd_json_bool(j);
		else
			etcd_json_skip(j);
	}
	// Each answer has a header with a revision.
	return j->failed || result->revision == 0 ? -EPROTO : 0;
}

static struct etcd_call txn_call(const struct etcd_txn *t, struct etcd_txn_result *result)
{
	*result = (struct etcd_txn_result){0};
	return (struct etcd_call){.path = "/v3/kv/txn",
		.write = txn_write,
		.request = t,
		.read = txn_read,
		.result = result,
		.is_transaction = true};
}

static void txn_result_set(struct etcd_txn_result *result, int error)
{
	if (error)
		*result = (struct etcd_txn_result){.error = error};
}

int etcd_txn(struct etcd *e, const struct etcd_txn *t, uint32_t timeout_ms,
	struct etcd_txn_result *result)
{
	int error = etcd_call(e, txn_call(t, result), timeout_ms);
	txn_result_set(result, error);
	return error;
}

int etcd_txn_many(struct etcd *e, const struct etcd_txn *txns, uint32_t count, uint32_t together,
	uint32_t timeout_ms, struct etcd_txn_result *results)
{
	if (count == 0)
		return 0;
	struct etcd_call *calls = memory_take_array(count, sizeof *calls);
	for (uint32_t i = 0; i < count; i++)
		calls[i] = txn_call(&txns[i], &results[i]);
	int error = etcd_call_many(e, calls, count, together, timeout_ms);
	for (uint32_t i = 0; i < count; i++)
		txn_result_set(&results[i], calls[i].error);
	free(calls);
	return error;
}
