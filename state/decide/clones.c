#include "state/decide/clones.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

// Nodes watched at a time: a new one replaces the node that changed hands longest ago.
#define WATCHED_MAX 256u
// Agents of one node that are remembered: who comes after them replaces the newest.
#define AGENTS_MAX 8u
#define RETURNS_MAX 2u

struct agent {
	struct agent_print print;
	struct agent_mark mark; // of its newest registration; without a port: none was seen
};

struct watched {
	struct uuid node;
	int64_t newest_ns;
	struct agent agents[AGENTS_MAX]; // in the order of their first registration
	uint32_t agent_count, returns;
};

struct clones {
	struct clone_limits limits;
	struct agent_print *holders; // by slots of nodes
	uint32_t holder_count;
	struct watched watched[WATCHED_MAX];
	uint32_t count;
};

struct clones *clones_create(const struct clone_limits *limits, uint32_t node_slots)
{
	struct clones *c = memory_take(sizeof *c);
	CHECK(limits->window_ns > limits->soon_ns);
	c->limits = *limits;
	c->holders = memory_take(node_slots * sizeof c->holders[0]);
	c->holder_count = node_slots;
	return c;
}

void clones_free(struct clones *c)
{
	if (!c)
		return;
	free(c->holders);
	free(c);
}

void clones_hold(struct clones *c, uint32_t slot, const struct agent_mark *holder)
{
	CHECK(slot < c->holder_count);
	c->holders[slot] = agent_print_of(holder);
}

struct agent_print clones_holder(const struct clones *c, uint32_t slot)
{
	CHECK(slot < c->holder_count);
	return c->holders[slot];
}

// 32 bits in which each bit of the value shows, and not 0. A hash has its halves folded together already: folded once
// more, they would cancel out.
static uint32_t print_part(uint64_t value)
{
	uint32_t part = (uint32_t)(value * 0x9e3779b97f4a7c15ull >> 32);
	return part ? part : 1;
}

struct agent_print agent_print_of(const struct agent_mark *mark)
{
	return (struct agent_print){
		.place = print_part(hash_bytes(mark->port, mark->address, sizeof mark->address)),
		.boot = mark->boot ? print_part(mark->boot) : 0};
}

static bool prints_equal(struct agent_print a, struct agent_print b)
{
	return a.boot && b.boot ? a.boot == b.boot : a.place == b.place;
}

static const struct watched *find_watched(const struct clones *c, const struct uuid *node)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (uuid_equal(&c->watched[i].node, node))
			return &c->watched[i];
	return NULL;
}

static struct watched *longest_ago(struct clones *c)
{
	struct watched *oldest = &c->watched[0];
	for (uint32_t i = 1; i < c->count; i++)
		if (c->watched[i].newest_ns < oldest->newest_ns)
			oldest = &c->watched[i];
	return oldest;
}

// The node's entry, anew when nothing happened for the window.
static struct watched *node_watch(
	struct clones *c, const struct uuid *node, struct agent_print holder, int64_t now_ns)
{
	struct watched *w = (struct watched *)find_watched(c, node);
	if (w != NULL && now_ns - w->newest_ns <= c->limits.window_ns)
		return w;
	if (w == NULL)
		w = c->count < WATCHED_MAX ? &c->watched[c->count++] : longest_ago(c);
	*w = (struct watched){.node = *node,
		.newest_ns = now_ns,
		.agents = {{.print = holder}},
		.agent_count = 1};
	return w;
}

// The number of the agent among those that had the node; agent_count: none of them.
static uint32_t find_agent(const struct watched *w, struct agent_print print)
{
	uint32_t i = 0;
	while (i < w->agent_count && !prints_equal(w->agents[i].print, print))
		i++;
	return i;
}

static void add_agent(struct watched *w, struct agent_print print, const struct agent_mark *mark)
{
	if (w->agent_count < AGENTS_MAX)
		w->agent_count++;
	w->agents[w->agent_count - 1] = (struct agent){print, *mark};
}

bool clones_register(struct clones *c, const struct uuid *node, struct agent_print holder,
	const struct agent_mark *comer, int64_t now_ns)
{
	struct agent_print print = agent_print_of(comer);
	if (prints_equal(holder, print))
		return false;
	struct watched *w = node_watch(c, node, holder, now_ns);
	uint32_t number = find_agent(w, print);
	bool is_known = number < w->agent_count;
	bool is_soon = now_ns - w->newest_ns <= c->limits.soon_ns;
	// Beyond the agents that are remembered new ones cannot be told from those that return.
	bool is_full = w->agent_count == AGENTS_MAX;
	w->newest_ns = now_ns;
	if (is_known)
		w->agents[number].mark = *comer;
	else
		add_agent(w, print, comer);
	if (is_known && (is_soon || comer->boot != 0))
		w->returns++;
	return number != 0 && (is_known || is_full) && w->returns >= RETURNS_MAX;
}

const struct agent_mark *clones_seen(
	const struct clones *c, const struct uuid *node, struct agent_print holder)
{
	const struct watched *w = find_watched(c, node);
	uint32_t number = w ? find_agent(w, holder) : 0;
	bool is_seen = w && number < w->agent_count && w->agents[number].mark.port != 0;
	return is_seen ? &w->agents[number].mark : NULL;
}

void clones_forget(struct clones *c, const struct uuid *node)
{
	struct watched *w = (struct watched *)find_watched(c, node);
	if (w != NULL)
		*w = c->watched[--c->count];
}
