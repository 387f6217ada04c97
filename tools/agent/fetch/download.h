// One file over HTTP or HTTPS (libcurl).
#pragma once
#include "tools/agent/fetch/request.h"

// Writes what the URL has to an open file, and compares its checksum. False and why.
bool download(const struct fetch_request *, int file, struct fetch_result *);
