// Jobs in files, as requests to the controller.
#pragma once
#include "tools/berth/cli/session.h"

// Builds the request for a job file, {"Job": …}: of JSON its content, of any other text what it says as HCL, with the
// variables of the command line and of the environment.
enum exit_status job_file_read(struct session *, const char *file, json_t **request);
// The id of the request's job, borrowed.
const char *job_file_id(json_t *request);
// "/v1/job/ID<suffix>?namespace=…"; path has HTTP_PATH_BYTES.
const char *job_path(struct session *, const char *id, const char *suffix, char *path);
