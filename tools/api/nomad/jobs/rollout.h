// Multiregion jobs, as this controller takes them.
#pragma once
#include "tools/api/server/request.h"
#include "tools/forms/job_body.h"

// Applies the multiregion block's settings for this region to a valid job, and names its submission: by ?rollout= when
// another region sends it, else by the name it already has, or a new one. Adds problems to the mistakes.
void rollout_settle(struct request *, struct job_body *);
