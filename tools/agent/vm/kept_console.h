// What machines said that are gone from this worker, for whoever wants to know why: DATA-DIR/consoles/NAME-UID has the
// files of the last time that it ran here. Only the newest are kept.
#pragma once
#include "state/base/uuid.h"
#include <jansson.h>
#include <stdbool.h>

#define KEPT_CONSOLES_MAX 32u
#define KEPT_CONSOLES_BYTES_MAX (256ll << 20) // of all; the newest is kept however large it is

// Moves the outputs of the instance there before its folder is removed, if the machine said anything. What cannot be
// kept is lost.
void kept_console_put(const char *data_folder, const json_t *machine, const struct uuid *instance);
// The folder of a machine, of which "alloc/logs" has the files. False: these are no names of one.
bool kept_console_folder(
	const char *data_folder, const char *name, const char *uid, char path[static 600]);
