#include "state/etcd/etcd_call.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/etcd/etcd_answer.h"
#include "state/etcd/etcd_auth.h"
#include <errno.h>

// Before all endpoints are asked once more.
#define PAUSE_MS 50u
#define WAIT_MS 50u
// A machine that is there accepts a connection in less.
#define CONNECT_MS 1000u

struct attempt {
	struct etcd_call *call; // NULL: the slot is free
	struct etcd_exchange *exchange;
	uint32_t tried;    // endpoints of this round
	bool had_token;    // a new token was asked for
	bool is_under_way; // else it waits for resume_ns
	uint64_t resume_ns;
};

struct work {
	struct etcd *etcd;
	struct etcd_line *line;
	struct etcd_call *calls;
	uint32_t count, begun, done, together;
	uint64_t until_ns;
	struct attempt attempts[ETCD_TOGETHER_MAX];
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// With a second endpoint, the first gets half of the time that is left. A transaction is over when its attempt is, and
// libcurl, which counts in whole milliseconds, may end that one too early.
static struct etcd_limits work_limits(const struct work *w, bool is_transaction)
{
	uint64_t left = etcd_left_ms(w->until_ns),
		 share = w->etcd->endpoint_count > 1 ? left / 2 : left;
	struct etcd_limits limits = {
		.connect_ms = least(least(share, CONNECT_MS), w->etcd->timeout_ms),
		.whole_ms = is_transaction ? left + 1 : least(share, w->etcd->timeout_ms),
	};
	// 0 would be without a limit.
	limits.connect_ms += limits.connect_ms == 0;
	limits.whole_ms += limits.whole_ms == 0;
	return limits;
}

static void attempt_end(struct work *w, struct attempt *a, int error)
{
	if (a->call->is_transaction)
		w->etcd->counters.txns_under_way--;
	a->call->error = error;
	a->call = NULL;
	w->done++;
}

static void attempt_pause(const struct work *w, struct attempt *a)
{
	a->tried = 0;
	a->resume_ns = least(etcd_now_ns() + PAUSE_MS * NS_PER_MS, w->until_ns);
}

// At the next endpoint; when each was asked, what is no matter of time is final.
static void attempt_begin(struct work *w, struct attempt *a)
{
	struct etcd_call *c = a->call;
	int endpoint = etcd_endpoint_choose(w->etcd, a->tried);
	if (etcd_left_ms(w->until_ns) == 0)
		attempt_end(w, a, c->error ? c->error : -ETIMEDOUT);
	else if (endpoint < 0 && c->error != -ETIMEDOUT)
		attempt_end(w, a, c->error);
	else if (endpoint < 0)
		attempt_pause(w, a);
	else {
		a->tried |= 1u << endpoint;
		struct etcd_limits limits = work_limits(w, c->is_transaction);
		if (etcd_token_is_missing(w->etcd))
			c->error = etcd_token_renew(
				w->etcd, (uint32_t)endpoint, ETCD_NO_TOKEN, limits);
		limits = work_limits(w, c->is_transaction);
		etcd_exchange_begin(
			w->etcd, w->line, a->exchange, c->path, (uint32_t)endpoint, limits);
		a->is_under_way = true;
	}
}

// The bucket of 2^i microseconds.
static void latency_count(struct etcd_counters *counters, uint64_t begun_ns)
{
	uint64_t us = (etcd_now_ns() - begun_ns) / NS_PER_US;
	uint32_t bucket = us ? 64 - (uint32_t)__builtin_clzll(us) : 0;
	counters->txn_us[bucket < ETCD_LATENCY_BUCKETS ? bucket : ETCD_LATENCY_BUCKETS - 1]++;
	counters->txn_us_sum += us;
}

static int call_read(struct etcd *e, struct etcd_call *c, struct etcd_exchange *x)
{
	struct etcd_json j = etcd_json_over(x->answer.data, x->answer.size);
	int error = c->read(&j, c->result);
	if (error == 0 && j.failed)
		error = -EPROTO;
	if (error == -EPROTO)
		etcd_endpoint_failed(e, x->endpoint, "an answer that can not be read");
	else
		etcd_endpoint_answered(e, x->endpoint);
	if (c->is_transaction && error == 0)
		latency_count(&e->counters, x->begun_ns);
	return error;
}

// etcd refused the token, or wants one: with a new one the same endpoint is asked once more.
static void attempt_renew_token(struct work *w, struct attempt *a)
{
	struct etcd_exchange *x = a->exchange;
	int error = -EACCES;
	if (!a->had_token)
		error = etcd_token_renew(
			w->etcd, x->endpoint, x->token_number, work_limits(w, false));
	a->had_token = true;
	a->call->error = error;
	if (error == 0)
		a->tried &= ~(1u << x->endpoint);
	if (error == -EACCES)
		attempt_end(w, a, error);
	else
		attempt_begin(w, a);
}

static void attempt_done(struct work *w, struct attempt *a)
{
	struct etcd_call *c = a->call;
	struct etcd_exchange *x = a->exchange;
	struct etcd_outcome o = etcd_exchange_outcome(x);
	a->is_under_way = false;
	c->error = o.error;
	switch (o.verdict) {
	case VERDICT_ANSWERED: attempt_end(w, a, call_read(w->etcd, c, x)); return;
	case VERDICT_REFUSED:
		etcd_endpoint_answered(w->etcd, x->endpoint);
		etcd_note(w->etcd, x->endpoint, o.text);
		attempt_end(w, a, o.error);
		return;
	case VERDICT_TOKEN:
		etcd_note(w->etcd, x->endpoint, o.text);
		attempt_renew_token(w, a);
		return;
	case VERDICT_UNKNOWN:
	case VERDICT_NOT_DONE: break;
	}
	etcd_endpoint_failed(w->etcd, x->endpoint, o.text);
	if (c->is_transaction && o.verdict == VERDICT_UNKNOWN)
		attempt_end(w, a, o.error);
	else
		attempt_begin(w, a);
}

// Puts the next call into a free slot.
static void work_begin(struct work *w, uint32_t slot)
{
	struct attempt *a = &w->attempts[slot];
	struct etcd_call *c = &w->calls[w->begun++];
	*a = (struct attempt){.call = c, .exchange = etcd_exchange_ready(w->etcd, w->line, slot)};
	c->error = 0;
	c->write(&a->exchange->request, c->request);
	if (c->is_transaction)
		w->etcd->counters.txns_under_way++;
	attempt_begin(w, a);
}

static void work_step(struct work *w)
{
	uint64_t now = etcd_now_ns();
	for (uint32_t slot = 0; slot < w->together; slot++) {
		struct attempt *a = &w->attempts[slot];
		if (a->call && a->is_under_way && a->exchange->is_done)
			attempt_done(w, a);
		else if (a->call && !a->is_under_way && a->resume_ns <= now)
			attempt_begin(w, a);
		while (!a->call && w->begun < w->count)
			work_begin(w, slot);
	}
}

int etcd_call_many(struct etcd *e, struct etcd_call *calls, uint32_t count, uint32_t together,
	uint32_t timeout_ms)
{
	struct work w = {.etcd = e, .calls = calls, .count = count};
	int error = 0;
	if (count == 0)
		return 0;
	w.together = (uint32_t)least(together ? together : 1, ETCD_TOGETHER_MAX);
	w.until_ns = etcd_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
	w.line = etcd_line_take(e);
	for (work_step(&w); w.done < count; work_step(&w))
		etcd_line_work(w.line, (uint32_t)least(etcd_left_ms(w.until_ns) + 1, WAIT_MS));
	etcd_line_give_back(e, w.line);
	for (uint32_t i = 0; i < count && !error; i++)
		error = calls[i].error;
	return error;
}

int etcd_call(struct etcd *e, struct etcd_call call, uint32_t timeout_ms)
{
	return etcd_call_many(e, &call, 1, 1, timeout_ms);
}

uint64_t etcd_header_revision(struct etcd_json *j)
{
	struct text name;
	uint64_t revision = 0;
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "revision"))
			revision = etcd_json_u64(j);
		else
			etcd_json_skip(j);
	}
	return revision;
}
