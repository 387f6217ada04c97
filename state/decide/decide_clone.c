// Clones of nodes: refuses them, keeps that in the state, and lets an operator clear it.
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/admit_rule.h"
#include "state/tables/nodes/admit_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/tables.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

// A clone that goes on asking is noted as the newest no more often than this.
#define NOTE_AGAIN_NS (60 * NS_PER_S)
// "[ADDRESS]:PORT"
#define PLACE_BYTES (INET6_ADDRSTRLEN + 9)
#define BOOT_BYTES 17

static const char *put_place(const struct agent_mark *mark, char to[static PLACE_BYTES])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
	bool is_ipv4 = memcmp(mark->address, mapped, sizeof mapped) == 0;
	char address[INET6_ADDRSTRLEN];

	CHECK(inet_ntop(is_ipv4 ? AF_INET : AF_INET6, mark->address + (is_ipv4 ? 12 : 0), address,
		sizeof address));
	snprintf(to, PLACE_BYTES, is_ipv4 ? "%s:%u" : "[%s]:%u", address, mark->port);
	return to;
}

static const char *put_boot(const struct agent_mark *mark, char to[static BOOT_BYTES])
{
	to[0] = '\0';
	if (mark->boot != 0)
		snprintf(to, BOOT_BYTES, "%016llx", (unsigned long long)mark->boot);
	return to;
}

static bool is_noted_as(const struct refused_node *clone, const struct agent_mark *comer)
{
	char place[PLACE_BYTES], boot[BOOT_BYTES];

	if (text_of(clone->boot).size > 0 && comer->boot != 0)
		return text_equal(text_of(clone->boot), text_of(put_boot(comer, boot)));
	return text_equal(text_of(clone->address), text_of(put_place(comer, place)));
}

static const struct refused_node *noted_clone(const struct decider *d, const struct uuid *id)
{
	const struct refused_node *refused = refused_node_working(d->state, id);

	CHECK(!refused || uuid_equal(&refused->id, id));
	return refused && refused->claim == ADMIT_CLONE ? refused : NULL;
}

// before: the note as it is, or NULL.
static void note_clone(struct decider *d, const struct refused_node *before,
	const struct node_registration *r, struct agent_print holder)
{
	char place[PLACE_BYTES], boot[BOOT_BYTES];
	bool is_new = !before || !is_noted_as(before, &r->from);
	const struct agent_mark *beside = clones_seen(d->clones, &r->node, holder);

	CHECK(!before || before->claim == ADMIT_CLONE);
	if ((!is_new && d->now_ns - before->newest_ns < NOTE_AGAIN_NS) || !decider_may_note(d))
		return;
	struct refused_node *clone = record_create(&refused_node_description);
	clone->id = r->node;
	clone->name = text_copy(r->name);
	clone->address = text_copy(text_of(put_place(&r->from, place)));
	clone->pool = text_copy(r->pool);
	clone->datacenter = text_copy(r->datacenter);
	clone->class_name = text_copy(r->class_name);
	clone->claim = ADMIT_CLONE;
	clone->pattern = text_copy(TEXT(""));
	clone->boot = text_copy(text_of(put_boot(&r->from, boot)));
	// After a start of the controller it is not known who has the node.
	if (beside)
		clone->beside = text_copy(text_of(put_place(beside, place)));
	else
		clone->beside = text_copy(text_of(before ? before->beside : ""));
	decider_put_refused(d, clone);
}

bool decider_finds_clone(
	struct decider *d, const struct node_cell *cell, const struct node_registration *r)
{
	const struct agent_print holder = clones_holder(d->clones, cell->working->slot);
	const struct refused_node *before = noted_clone(d, &r->node);
	bool is_clone = before && is_noted_as(before, &r->from);

	CHECK(uuid_equal(&cell->working->id, &r->node));
	if (holder.place != 0 && !is_clone)
		is_clone = clones_register(d->clones, &r->node, holder, &r->from, d->now_ns);
	if (is_clone)
		note_clone(d, before, r, holder);
	return is_clone;
}

bool decider_clear_clone(struct decider *d, const struct uuid *id)
{
	bool is_noted = noted_clone(d, id) != NULL;

	CHECK(!uuid_is_zero(id));
	clones_forget(d->clones, id);
	if (is_noted)
		decider_delete_id(d, STATE_REFUSED_NODES, id);
	return is_noted;
}

enum command_outcome decide_quarantine_clear(struct decider *d, struct command *command)
{
	const struct command_node_named *c = &command->node_named;

	if (uuid_is_zero(&c->node) || !decider_clear_clone(d, &c->node))
		return OUTCOME_UNKNOWN_QUARANTINE;
	return OUTCOME_DONE;
}
