// Whether the broker and the blocked evaluations are at work: not while an operator has paused them, and not once the
// pipeline stops.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

// Enables the broker, unless an operator has paused it, or disables it: enabled, everything that is stored is taken
// over; disabled, everything is forgotten. True when that changed something.
bool pipeline_follow_config(struct pipeline *);
// The pipeline stops: whoever waits for an evaluation returns.
void pipeline_disable_for_good(struct pipeline *);
