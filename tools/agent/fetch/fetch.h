// Fetches one artifact: a file over HTTP or HTTPS, checked against its checksum, put where it belongs or unpacked
// there. It runs in a process of its own, as the task's user and with bounds (fetch_main), because what it reads is
// anybody's: the agent only hears how it ended.
#pragma once
#include "tools/agent/fetch/request.h"

// The agent's program begins as this with the first argument FETCH_ARGUMENT.
#define FETCH_ARGUMENT "fetch-artifact"
// Descriptors that it begins with: the request as JSON, where the result goes, and the allocation's folder.
enum { FETCH_REQUEST_FD = 0, FETCH_RESULT_FD = 1, FETCH_FOLDER_FD = 3 };
#define FETCH_RESULT_BYTES_MAX 1024u

// Does all of it, below the open folder. May take as long as the request says.
void fetch_artifact(const struct fetch_request *, int folder, struct fetch_result *);
// The program: reads the request, fetches, writes {"Done", "MayHelp", "Message"}. Returns the exit status.
int fetch_main(void);
