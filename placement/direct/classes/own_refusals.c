#include "placement/direct/classes/own_refusals.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

void own_refusals_release(struct own_refusals *o)
{
	for (uint32_t i = 0; i < o->reason_count; i++)
		free(o->reasons[i].text);
	free(o->reasons);
	free(o->of);
	free(o->few);
}

void own_refusals_make_room(struct own_refusals *o, uint32_t slots)
{
	if (slots <= o->slots)
		return;
	uint32_t room = o->slots + o->slots / 2 > slots ? o->slots + o->slots / 2 : slots;
	o->of = memory_resize(o->of, room);
	memset(o->of + o->slots, 0, room - o->slots);
	o->slots = room;
}

// Returns the reason's number, counted from 1; 0 when there is none left.
static uint32_t reason_number(struct own_refusals *o, const char *text, bool comes_first)
{
	for (uint32_t i = 0; i < o->reason_count; i++)
		if (o->reasons[i].comes_first == comes_first &&
			strcmp(o->reasons[i].text, text) == 0)
			return i + 1;
	if (o->reason_count == OWN_REASONS_MAX)
		return 0;
	if (o->reason_count == o->reason_room) {
		o->reason_room = o->reason_room ? 2 * o->reason_room : 4;
		o->reasons = memory_resize(o->reasons, o->reason_room * sizeof o->reasons[0]);
	}
	o->reasons[o->reason_count++] = (struct own_reason){text_copy(text_of(text)), comes_first};
	return o->reason_count;
}

void own_refusals_judge(struct own_refusals *o, uint32_t slot, node_judge *judge, void *context)
{
	bool comes_first = false;
	const char *text = judge(context, slot, &comes_first);
	uint32_t number = text ? reason_number(o, text, comes_first) : 0;

	CHECK(slot < o->slots);
	o->has_too_many_reasons |= text && number == 0;
	o->of[slot] = (uint8_t)number;
}

void own_refusals_begin_passing(struct own_refusals *o)
{
	o->passing = 0;
	o->is_lost = false;
	if (!o->few)
		o->few = memory_take_array(OWN_NODES_FEW, sizeof o->few[0]);
}

void own_refusals_put(struct own_refusals *o, uint32_t slot)
{
	if (o->few && o->passing == OWN_NODES_FEW) {
		free(o->few);
		o->few = NULL;
	}
	if (o->few)
		o->few[o->passing] = slot;
	o->passing++;
}

void own_refusals_take_out(struct own_refusals *o, uint32_t slot)
{
	uint32_t at = 0;

	CHECK(o->passing > 0);
	o->passing--;
	// Not at once below the limit, or nodes that come and go there would have all looked at each time.
	o->is_lost |= !o->few && o->passing <= OWN_NODES_FEW / 2;
	if (!o->few)
		return;
	while (o->few[at] != slot)
		at++;
	CHECK(at <= o->passing);
	o->few[at] = o->few[o->passing];
}
