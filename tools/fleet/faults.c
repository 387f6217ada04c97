#include "tools/fleet/faults.h"
#include "tools/fleet/work/running.h"
#include "tools/fleet/work/running_alloc.h"
#include <stdio.h>

#define ROUNDS_DEFAULT 3u // of flapping

static bool seconds_to_ms(double seconds, uint32_t *ms)
{
	if (!(seconds >= 0 && seconds <= 4e6))
		return false;
	*ms = (uint32_t)(seconds * 1000);
	return true;
}

// Reads the length and the rounds that follow count and time.
static bool read_length(const char *text, struct fault *fault)
{
	double length;
	int used = 0;
	bool flaps = fault->kind == FAULT_FLAP;
	if (*text == '\0')
		return !flaps;
	if (fault->kind == FAULT_LEAVE || fault->kind == FAULT_RETURN || *text != '+' ||
		sscanf(text, "+%lf%n", &length, &used) != 1 ||
		!seconds_to_ms(length, &fault->for_ms))
		return false;
	text += used;
	if (!flaps || fault->for_ms == 0 || *text == '\0')
		return *text == '\0' && !(flaps && fault->for_ms == 0);
	used = 0;
	return sscanf(text, "x%u%n", &fault->rounds, &used) == 1 && text[1] != '-' &&
	       text[used] == '\0' && fault->rounds > 0;
}

// Reads count and time; returns how many characters they take, 0 for other text.
static int read_count_and_time(const char *text, struct fault *fault)
{
	double at;
	int used = 0;
	fault->at_ms = FAULT_AT_SIGNAL;
	if (sscanf(text, "%u@signal%n", &fault->count, &used) == 1 && used > 0)
		return used;
	bool is_read = sscanf(text, "%u@%lf%n", &fault->count, &at, &used) == 2;
	return is_read && seconds_to_ms(at, &fault->at_ms) ? used : 0;
}

bool fault_parse(enum fault_kind kind, const char *text, struct fault *fault)
{
	*fault = (struct fault){.kind = kind,
		.for_ms = kind == FAULT_CRASH ? 0 : UINT32_MAX,
		.rounds = ROUNDS_DEFAULT};
	int used = text[0] == '-' ? 0 : read_count_and_time(text, fault);
	return used > 0 && fault->count > 0 && read_length(text + used, fault);
}

void faults_signal(struct fault *faults, uint32_t count, const struct fleet *f)
{
	for (uint32_t i = 0; i < count; i++)
		if (faults[i].at_ms == FAULT_AT_SIGNAL)
			faults[i].at_ms = fleet_now_ms(f);
}

double fault_end_ms(const struct fault *fault)
{
	if (fault->for_ms == UINT32_MAX)
		return fault->at_ms;
	uint32_t lengths = fault->kind == FAULT_FLAP ? 2 * fault->rounds - 1 : 1;
	return fault->at_ms + (double)fault->for_ms * lengths;
}

static bool lasts(enum fault_kind kind)
{
	return kind >= FAULT_FLAP;
}

static bool can_be_struck(const struct fleet_node *n, enum fault_kind kind)
{
	if (kind == FAULT_RETURN)
		return n->phase == FLEET_SILENT || n->phase == FLEET_CRASHED ||
		       n->phase == FLEET_LEFT;
	if (lasts(kind) && n->fault)
		return false;
	// A node may be not ready or broken before it beats.
	return kind == FAULT_UNREADY || kind == FAULT_BREAK || n->phase == FLEET_BEATING;
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
	case FAULT_FLAP:
		fleet_set_phase(f, n, FLEET_SILENT);
		n->due_ms = due_after(f, fault->for_ms);
		break;
	case FAULT_CRASH:
		// The node boots: it remembers only its identity.
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
	case FAULT_UNREADY: n->flags |= FLEET_UNREADY; break;
	case FAULT_BREAK:
		n->flags |= FLEET_BROKEN;
		if (f->running)
			running_broke(f->running, index);
		break;
	case FAULT_RETURN:
		if (n->phase == FLEET_LEFT)
			fleet_set_phase(f, n, FLEET_CRASHED);
		n->due_ms = fleet_now_ms(f);
		fleet_urge(f, index);
		break;
	}
}

static void strike(struct fleet *f, struct fault *fault, uint16_t number)
{
	uint32_t nodes = f->settings.nodes;
	uint32_t start = (uint32_t)prng_below(&f->prng, nodes);
	for (uint32_t i = 0; i < nodes && fault->done < fault->count; i++) {
		uint32_t index = (start + i) % nodes;
		if (!can_be_struck(&f->nodes[index], fault->kind))
			continue;
		if (lasts(fault->kind))
			f->nodes[index].fault = number;
		strike_node(f, fault, index);
		fault->done++;
	}
	fault->struck = true;
	fault->round = 1;
	fault->is_over = !lasts(fault->kind);
}

// Strikes the fault's nodes that beat again; a node that is late misses the round.
static void flap_again(struct fleet *f, struct fault *fault, uint16_t number)
{
	fault->round++;
	for (uint32_t i = 0; i < f->settings.nodes; i++)
		if (f->nodes[i].fault == number && f->nodes[i].phase == FLEET_BEATING)
			strike_node(f, fault, i);
}

static void end_fault(struct fleet *f, struct fault *fault, uint16_t number)
{
	fault->is_over = true;
	for (uint32_t i = 0; i < f->settings.nodes; i++) {
		if (f->nodes[i].fault != number)
			continue;
		f->nodes[i].fault = 0;
		f->nodes[i].flags &= (uint8_t) ~(FLEET_UNREADY | FLEET_BROKEN);
	}
}

static void go_on(struct fleet *f, struct fault *fault, uint16_t number)
{
	double now_ms = fleet_now_ms(f);
	if (fault->for_ms == UINT32_MAX)
		return;
	bool flaps = fault->kind == FAULT_FLAP && fault->round < fault->rounds;
	if (flaps && now_ms >= fault->at_ms + 2.0 * fault->round * fault->for_ms)
		flap_again(f, fault, number);
	else if (!flaps && now_ms >= fault_end_ms(fault))
		end_fault(f, fault, number);
}

bool faults_strike(struct fault *faults, uint32_t count, struct fleet *f)
{
	bool all = true;
	for (uint32_t i = 0; i < count; i++) {
		if (!faults[i].struck && fleet_now_ms(f) >= faults[i].at_ms)
			strike(f, &faults[i], (uint16_t)(i + 1));
		else if (faults[i].struck && !faults[i].is_over)
			go_on(f, &faults[i], (uint16_t)(i + 1));
		all &= faults[i].struck;
	}
	return all;
}
