// Jobs in files, as requests to the controller.
#pragma once
#include "tools/berth/cli/session.h"

// Builds the request for a job file: its content, wrapped into {"Job": …} if it is not yet.
enum exit_status job_file_read(const char *file, json_t **request);
// The id of the request's job, borrowed.
const char *job_file_id(json_t *request);
// "/v1/job/ID<suffix>?namespace=…"; path has HTTP_PATH_BYTES.
const char *job_path(struct session *, const char *id, const char *suffix, char *path);
