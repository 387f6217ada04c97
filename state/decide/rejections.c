#include "state/decide/rejections.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <stdlib.h>

// Nodes watched at a time: a new one replaces the node that rejected longest ago.
#define WATCHED_MAX 50u
#define MARKS_BURST 10
#define MARK_INTERVAL_NS (30ll * 60 * NS_PER_S / 5)

struct watched {
	struct uuid node;
	int64_t newest_ns;
	uint32_t next; // index of the oldest time, replaced next
	int64_t *times;
};

struct rejections {
	struct rejection_settings settings;
	struct watched watched[WATCHED_MAX];
	uint32_t count;
	int64_t marked;   // nodes marked in the burst
	int64_t since_ns; // when the burst last got a mark back
};

struct rejections *rejections_create(const struct rejection_settings *settings)
{
	struct rejections *r = memory_take(sizeof *r);

	r->settings = *settings;
	return r;
}

void rejections_free(struct rejections *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->count; i++)
		free(r->watched[i].times);
	free(r);
}

static struct watched *longest_ago(struct rejections *r)
{
	struct watched *oldest = &r->watched[0];

	for (uint32_t i = 1; i < r->count; i++)
		if (r->watched[i].newest_ns < oldest->newest_ns)
			oldest = &r->watched[i];
	return oldest;
}

static struct watched *node_watch(struct rejections *r, const struct uuid *node)
{
	struct watched *w;

	for (uint32_t i = 0; i < r->count; i++)
		if (uuid_equal(&r->watched[i].node, node))
			return &r->watched[i];
	if (r->count < WATCHED_MAX) {
		w = &r->watched[r->count++];
	} else {
		w = longest_ago(r);
		free(w->times);
	}
	*w = (struct watched){.node = *node,
		.times = memory_take_array(r->settings.threshold, sizeof w->times[0])};
	return w;
}

// A time of 0 never happened.
static bool is_over(const struct rejections *r, const struct watched *w, int64_t now_ns)
{
	for (uint32_t i = 0; i < r->settings.threshold; i++)
		if (w->times[i] == 0 || now_ns - w->times[i] > r->settings.window_ns)
			return false;
	return true;
}

static bool may_mark(struct rejections *r, int64_t now_ns)
{
	int64_t given_back = (now_ns - r->since_ns) / MARK_INTERVAL_NS;

	if (given_back > 0) {
		r->marked = r->marked > given_back ? r->marked - given_back : 0;
		r->since_ns += given_back * MARK_INTERVAL_NS;
	}
	if (r->marked >= MARKS_BURST)
		return false;
	r->marked++;
	return true;
}

bool rejections_add(struct rejections *r, const struct uuid *node, int64_t now_ns)
{
	if (r->settings.threshold == 0)
		return false;
	struct watched *w = node_watch(r, node);
	w->times[w->next] = w->newest_ns = now_ns;
	w->next = (w->next + 1) % r->settings.threshold;
	return is_over(r, w, now_ns) && may_mark(r, now_ns);
}
