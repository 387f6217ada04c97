// Rules of admission: operators change them, registrations are judged by them, and nodes that are there already are
// judged again when one changed.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/admit_rule.h"
#include "state/tables/nodes/admit_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

// Nodes that one turn looks at again.
#define JUDGED_AT_ONCE 1024u
// A node that goes on asking is noted as the newest no more often than this, and all of them so often in a second:
// however many are refused, they cost the log little.
#define NOTE_AGAIN_NS (60 * NS_PER_S)
#define NOTES_PER_SECOND 16u

static bool has_room_for_glob(struct decider *d, const struct admit_rule *rule)
{
	const struct cell *cell;
	uint64_t cursor = 0;
	uint32_t globs = 0;

	if (!admit_rule_is_glob(rule) || admit_rule_working(d->state, text_of(rule->pattern)))
		return true;
	while ((cell = sequence_next(&d->state->tables[STATE_ADMIT_RULES].order, &cursor)))
		globs += cell_is_there(cell) && admit_rule_is_glob(cell->working);
	return globs < ADMIT_RULE_GLOBS_MAX;
}

enum command_outcome decide_admit_rule(struct decider *d, struct command *command)
{
	struct command_admit_rule *c = &command->admit_rule;

	CHECK(c->rule);
	if (!admit_rule_is_sound(c->rule))
		return OUTCOME_BAD_DESCRIPTION;
	if (!has_room_for_glob(d, c->rule))
		return OUTCOME_TABLE_FULL;
	enum command_outcome outcome = decider_store(d, STATE_ADMIT_RULES, c->rule);
	if (outcome != OUTCOME_DONE)
		return outcome;
	c->rule = NULL;
	admissions_change(&d->admissions);
	return OUTCOME_DONE;
}

enum command_outcome decide_admit_rule_delete(struct decider *d, struct command *command)
{
	const struct command_admit_rule_delete *c = &command->admit_rule_delete;

	CHECK(c->pattern.data);
	if (!admit_rule_working(d->state, c->pattern))
		return OUTCOME_UNKNOWN_RULE;
	decider_delete(d, STATE_ADMIT_RULES, c->pattern);
	admissions_change(&d->admissions);
	return OUTCOME_DONE;
}

static struct admit_claim claim_of_node(const struct node *n)
{
	struct admit_claim claim = {.id = n->id,
		.name = n->name,
		.pool = n->node_class->pool,
		.datacenter = n->node_class->datacenter,
		.class_name = n->node_class->class_name,
		.cpu_mhz = n->total.cpu_mhz,
		.memory_mb = n->total.memory_mb,
		.disk_mb = n->total.disk_mb};

	for (uint32_t i = 0; i < n->node_class->device_count; i++)
		claim.devices += n->node_class->devices[i].instances;
	return claim;
}

// The texts of a registration are views: these are copies that end.
struct claim_texts {
	char name[NAME_BYTES_MAX + 1], pool[NAME_BYTES_MAX + 1], datacenter[NAME_BYTES_MAX + 1],
		class_name[NAME_BYTES_MAX + 1];
};

static const char *copy_text(struct text from, char to[static NAME_BYTES_MAX + 1])
{
	CHECK(from.size <= NAME_BYTES_MAX);
	if (from.size)
		memcpy(to, from.data, from.size);
	to[from.size] = '\0';
	return to;
}

static struct admit_claim claim_of_registration(
	const struct node_registration *r, struct claim_texts *texts)
{
	struct admit_claim claim = {.id = r->node,
		.name = copy_text(r->name, texts->name),
		.pool = copy_text(r->pool, texts->pool),
		.datacenter = copy_text(r->datacenter, texts->datacenter),
		.class_name = copy_text(r->class_name, texts->class_name),
		.cpu_mhz = r->total.cpu_mhz,
		.memory_mb = r->total.memory_mb,
		.disk_mb = r->total.disk_mb};

	for (uint32_t i = 0; i < r->device_group_count; i++)
		claim.devices += r->device_groups[i].instances;
	return claim;
}

bool decider_may_note(struct decider *d)
{
	struct admissions *a = &d->admissions;

	if (d->now_ns - a->notes_since_ns >= NS_PER_S || d->now_ns < a->notes_since_ns) {
		a->notes_since_ns = d->now_ns;
		a->notes_left = NOTES_PER_SECOND;
	}
	if (a->notes_left == 0 || d->store_is_full)
		return false;
	a->notes_left--;
	return true;
}

// The one that stands longest in the list leaves it. Its place is free only once that was published, so the list never
// fills up: the last places are for the notes of a second. Notes of clones leave only when there are no others.
static void leave_room_for_refused(struct decider *d, const struct uuid *newest)
{
	uint64_t cursor = 0;
	const struct cell *cell, *leaves = NULL;

	if (table_has_room(d->state, STATE_REFUSED_NODES, d->state->limits.refused_nodes / 16 + 1))
		return;
	while ((cell = sequence_next(&d->state->tables[STATE_REFUSED_NODES].order, &cursor))) {
		const struct refused_node *refused = cell_is_there(cell) ? cell->working : NULL;
		if (!refused || uuid_equal(&cell->id, newest))
			continue;
		if (!leaves || refused->claim != ADMIT_CLONE)
			leaves = cell;
		if (refused->claim != ADMIT_CLONE)
			break;
	}
	if (leaves)
		decider_delete_id(d, STATE_REFUSED_NODES, &leaves->id);
}

void decider_put_refused(struct decider *d, struct refused_node *refused)
{
	const struct uuid id = refused->id;
	const struct refused_node *before = refused_node_working(d->state, &id);

	CHECK(refused->claim > ADMIT && refused->claim < ADMISSIONS);
	refused->newest_ns = d->now_ns;
	refused->first_ns = before && before->first_ns < d->now_ns ? before->first_ns : d->now_ns;
	if (decider_put(d, STATE_REFUSED_NODES, refused) != 0)
		record_free(&refused_node_description, refused);
	else
		leave_room_for_refused(d, &id);
}

static void note_refused(struct decider *d, const struct admit_claim *claim, struct text address,
	enum admission admission, const struct admit_rule *rule)
{
	const struct refused_node *before = refused_node_working(d->state, &claim->id);

	// What is noted of a clone stays: it is needed to tell it.
	if (before && before->claim == ADMIT_CLONE)
		return;
	if (before && before->claim == (int)admission &&
		d->now_ns - before->newest_ns < NOTE_AGAIN_NS)
		return;
	if (!decider_may_note(d))
		return;
	struct refused_node *refused = record_create(&refused_node_description);
	refused->id = claim->id;
	refused->name = text_copy(text_of(claim->name));
	refused->address = text_copy(address);
	refused->pool = text_copy(text_of(claim->pool));
	refused->datacenter = text_copy(text_of(claim->datacenter));
	refused->class_name = text_copy(text_of(claim->class_name));
	refused->claim = (int)admission;
	refused->pattern = text_copy(text_of(rule ? rule->pattern : ""));
	decider_put_refused(d, refused);
}

static bool admits_everybody(const struct decider *d)
{
	return !d->admissions.knows_all && d->state->tables[STATE_ADMIT_RULES].order.count == 0;
}

enum admission decider_admits(struct decider *d, const struct node_registration *registration)
{
	// Who was refused before leaves the list.
	if (admits_everybody(d) && d->state->tables[STATE_REFUSED_NODES].order.count == 0)
		return ADMIT;
	struct claim_texts texts;
	const struct admit_rule *rule;
	struct admit_claim claim = claim_of_registration(registration, &texts);
	enum admission admission = admissions_judge(&d->admissions, d->state, &claim, &rule);

	CHECK(admission < ADMISSIONS);
	if (admission != ADMIT)
		note_refused(d, &claim, registration->address, admission, rule);
	else {
		const struct refused_node *before = refused_node_working(d->state, &claim.id);
		if (before && before->claim != ADMIT_CLONE)
			decider_delete_id(d, STATE_REFUSED_NODES, &claim.id);
	}
	return admission;
}

bool decider_admits_node(struct decider *d, const struct node *n)
{
	const struct admit_rule *rule;
	struct admit_claim claim = claim_of_node(n);

	return admissions_judge(&d->admissions, d->state, &claim, &rule) == ADMIT;
}

static void judge_node(struct decider *d, const struct node *n)
{
	if (n->eligibility != NODE_ELIGIBLE || decider_admits_node(d, n))
		return;
	struct entry e = {.kind = ENTRY_NODE_ELIGIBILITY,
		.node_eligibility = {n->slot, n->generation, NODE_INELIGIBLE_NOT_ADMITTED}};
	CHECK(decider_commit(d, &e) == 0);
}

bool decider_judges_nodes(const struct decider *d)
{
	return !admits_everybody(d) && d->admissions.next_slot < state_node_slots(d->state);
}

void decider_judge_nodes(struct decider *d)
{
	struct admissions *a = &d->admissions;
	uint32_t slots = state_node_slots(d->state);
	uint32_t end =
		slots - a->next_slot > JUDGED_AT_ONCE ? a->next_slot + JUDGED_AT_ONCE : slots;

	CHECK(a->next_slot <= slots);
	for (; a->next_slot < end; a->next_slot++) {
		const struct node *n = node_working(d->state, a->next_slot);
		if (n)
			judge_node(d, n);
	}
}
