#include "tools/fleet/faults.h"
#include "tools/fleet/running.h"
#include <stdio.h>

static bool seconds_to_ms(double seconds, uint32_t *ms)
{
	if (!(seconds >= 0 && seconds <= 4e6))
		return false;
	*ms = (uint32_t)(seconds * 1000);
	return true;
}

bool fault_parse(enum fault_kind kind, const char *text, struct fault *fault)
{
	double at, length;
	int used = 0;
	*fault = (struct fault){.kind = kind, .for_ms = UINT32_MAX};
	if (text[0] == '-' || sscanf(text, "%u@%lf%n", &fault->count, &at, &used) != 2 ||
		fault->count == 0 || !seconds_to_ms(at, &fault->at_ms))
		return false;
	text += used;
	if (kind == FAULT_CRASH)
		fault->for_ms = 0;
	if (*text == '\0')
		return true;
	return (kind == FAULT_SILENCE || kind == FAULT_CRASH) && *text == '+' &&
	       sscanf(text, "+%lf%n", &length, &used) == 1 && text[used] == '\0' &&
	       seconds_to_ms(length, &fault->for_ms);
}

static bool can_be_struck(const struct fleet_node *n, enum fault_kind kind)
{
	if (kind == FAULT_RETURN)
		return n->phase == FLEET_SILENT || n->phase == FLEET_CRASHED ||
		       n->phase == FLEET_LEFT;
	return n->phase == FLEET_BEATING;
}

static uint32_t due_after(const struct fleet *f, uint32_t for_ms)
{
	return for_ms == UINT32_MAX ? UINT32_MAX : fleet_now_ms(f) + for_ms;
}

static void strike_node(struct fleet *f, const struct fault *fault, uint32_t index)
{
	struct fleet_node *n = &f->nodes[index];
	switch (fault->kind) {
	case FAULT_SILENCE:
		fleet_set_phase(f, n, FLEET_SILENT);
		n->due_ms = due_after(f, fault->for_ms);
		break;
	case FAULT_CRASH:
		// A new boot: nothing is remembered but who it is.
		fleet_set_phase(f, n, FLEET_CRASHED);
		if (f->running)
			running_crashed(f->running, index);
		n->session.generation = 0;
		n->session.sequence = n->session.awaiting = n->session.unanswered = 0;
		n->due_ms = due_after(f, fault->for_ms);
		if (fault->for_ms == 0)
			fleet_urge(f, index);
		break;
	case FAULT_LEAVE:
		fleet_set_phase(f, n, FLEET_LEAVING);
		fleet_urge(f, index);
		break;
	case FAULT_RETURN:
		if (n->phase == FLEET_LEFT)
			fleet_set_phase(f, n, FLEET_CRASHED);
		n->due_ms = fleet_now_ms(f);
		fleet_urge(f, index);
		break;
	}
}

static void strike(struct fleet *f, struct fault *fault)
{
	uint32_t nodes = f->settings.nodes;
	uint32_t start = (uint32_t)prng_below(&f->prng, nodes);
	for (uint32_t i = 0; i < nodes && fault->done < fault->count; i++) {
		uint32_t index = (start + i) % nodes;
		if (!can_be_struck(&f->nodes[index], fault->kind))
			continue;
		strike_node(f, fault, index);
		fault->done++;
	}
	fault->struck = true;
}

bool faults_strike(struct fault *faults, uint32_t count, struct fleet *f)
{
	bool all = true;
	for (uint32_t i = 0; i < count; i++) {
		if (!faults[i].struck && fleet_now_ms(f) >= faults[i].at_ms)
			strike(f, &faults[i]);
		all &= faults[i].struck;
	}
	return all;
}
