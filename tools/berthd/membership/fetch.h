// A snapshot of another member.
#pragma once
#include "tools/berthd/daemon.h"

// Takes it over HTTP, of a member whose state is of that epoch, and puts it in the place of the own state, from the
// next start on. False and a sentence.
bool berthd_fetch(const struct config *, const char *http, uint64_t epoch, char *message,
	uint32_t message_size);
