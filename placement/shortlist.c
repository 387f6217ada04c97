#include "placement/shortlist.h"

bool shortlist_prefers(const struct fit_candidate *a, const struct fit_candidate *b)
{
	return a->score != b->score ? a->score > b->score : a->slot < b->slot;
}

void shortlist_fill(struct shortlist *l, uint32_t wanted)
{
	l->complete = l->count < wanted;
	if (!l->complete)
		l->horizon = l->at[l->count - 1];
}

void shortlist_offer(struct shortlist *l, const struct fit_candidate *c)
{
	if (!l->complete && !shortlist_prefers(c, &l->horizon))
		return;
	if (l->count == SHORTLIST_MAX) {
		// One does not go in; from now on it is the best of those outside.
		l->complete = false;
		l->horizon = *c;
		if (!shortlist_prefers(c, &l->at[l->count - 1]))
			return;
		l->horizon = l->at[--l->count];
	}
	uint32_t i = l->count++;
	for (; i > 0 && shortlist_prefers(c, &l->at[i - 1]); i--)
		l->at[i] = l->at[i - 1];
	l->at[i] = *c;
}

void shortlist_drop(struct shortlist *l, uint32_t slot)
{
	uint32_t i = 0;
	while (i < l->count && l->at[i].slot != slot)
		i++;
	if (i == l->count)
		return;
	l->count--;
	for (; i < l->count; i++)
		l->at[i] = l->at[i + 1];
}
