#include "placement/scheduler/reconcile/reconciliation.h"
#include <stdlib.h>

void reconciliation_release(struct reconciliation *result)
{
	struct array *lists[] = {&result->stops, &result->destructive, &result->place,
		&result->in_place, &result->attribute_updates, &result->disconnects,
		&result->reconnects, &result->follow_ups, &result->deployment_updates,
		&result->desired};
	for (uint32_t i = 0; i < result->follow_ups.count; i++)
		evaluation_free(*ARRAY_AT(&result->follow_ups, struct evaluation *, i));
	for (uint32_t i = 0; i < result->deployment_updates.count; i++)
		free(ARRAY_AT(&result->deployment_updates, struct deployment_update, i)
				->description);
	for (uint32_t i = 0; i < result->desired.count; i++)
		free(ARRAY_AT(&result->desired, struct desired_updates, i)->group);
	for (uint32_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		free(lists[i]->items);
	deployment_free(result->deployment);
	*result = (struct reconciliation){0};
}
