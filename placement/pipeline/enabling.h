// Whether the broker and the blocked evaluations are enabled: not while an operator has paused them, and not once the
// pipeline stops.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

// Enables the broker, unless an operator has paused it; else disables it. Enabling takes over all stored evaluations;
// disabling forgets them. True when that changed something.
bool pipeline_follow_config(struct pipeline *);
// The pipeline stops: every wait for an evaluation returns.
void pipeline_disable_for_good(struct pipeline *);
