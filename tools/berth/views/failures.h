// Prints what evaluations and plans could not place, and why.
#pragma once
#include <jansson.h>
#include <stdint.h>

// Prints each group of FailedTGAllocs; queued is QueuedAllocations, or NULL.
void failures_print(json_t *failed, json_t *queued, int indent);
// Prints the reasons in one metrics object.
void failures_print_metrics(json_t *metrics, int indent);
