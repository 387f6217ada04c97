// The image of a container, pulled if it has to be: once, however many tasks of the node want it at the same time.
#pragma once
#include "tools/agent/container/engine.h"

struct container_job {
	struct engine engine;
	json_t *plan;
};

// False: it is not there, and why was told as news; or a signal came meanwhile.
bool container_image_make_ready(const struct container_job *);
