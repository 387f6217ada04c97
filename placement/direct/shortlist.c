#include "placement/direct/shortlist.h"

static bool prefers(struct shortlist *l, struct fit_candidate *a, struct fit_candidate *b)
{
	return fit_prefer(l->algorithm, l->query, a, b);
}

void shortlist_fill(struct shortlist *l, uint32_t wanted)
{
	l->complete = l->count < wanted;
	if (!l->complete)
		l->horizon = l->at[l->count - 1];
}

void shortlist_offer(struct shortlist *l, struct fit_candidate c)
{
	if (!l->complete && !prefers(l, &c, &l->horizon))
		return;
	if (l->count == SHORTLIST_MAX) {
		// One candidate stays outside; it is now the best of those.
		l->complete = false;
		l->horizon = c;
		if (!prefers(l, &c, &l->at[l->count - 1]))
			return;
		l->horizon = l->at[--l->count];
	}
	uint32_t i = l->count++;
	for (; i > 0 && prefers(l, &c, &l->at[i - 1]); i--)
		l->at[i] = l->at[i - 1];
	l->at[i] = c;
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
