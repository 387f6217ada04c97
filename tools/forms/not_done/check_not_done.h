// What checks of services ask for and nodes do not do.
#pragma once
#include "tools/json/json_reader.h"
#include <jansson.h>

// place: where the services stand. Those of a group have to say where a script runs.
void check_not_done(const json_t *services, bool is_of_group, const char *place,
	struct json_sentences *warnings, struct json_sentences *refusals);
