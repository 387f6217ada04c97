// Jobs of several regions, as this controller takes them.
#pragma once
#include "tools/api/server/request.h"
#include "tools/forms/job_body.h"

// Gives a valid job what its block says of this region, and the name of its submission: that of ?rollout= when another
// region sends it, else the one it has already, or a new one. What is wrong with it goes to the mistakes.
void rollout_settle(struct request *, struct job_body *);
