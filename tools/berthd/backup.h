// Snapshots that leave the daemon, and come back.
#pragma once
#include "tools/berthd/daemon.h"

// For struct api_settings: context is the daemon.
bool berthd_snapshot(void *context, struct api_snapshot *, char *message, uint32_t message_size);
int berthd_body_file(void *context);
bool berthd_restore_online(void *context, int archive, char *message, uint32_t message_size);
void berthd_restore_begin(void *context);
// Makes a store in the configured data_dir, which has to be empty, of an archive. False and a sentence.
bool berthd_restore(
	const struct config *, const char *archive, char *message, uint32_t message_size);
