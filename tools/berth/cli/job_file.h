// Jobs in files, as requests to the controller.
#pragma once
#include "tools/berth/cli/session.h"

// The request for a job file: what it holds, wrapped into {"Job": …} unless it is already.
enum exit_status job_file_read(const char *file, json_t **request);
// Its job, borrowed.
const char *job_file_id(json_t *request);
// "/v1/job/ID<suffix>?namespace=…"; path has HTTP_PATH_BYTES.
const char *job_path(struct session *, const char *id, const char *suffix, char *path);
