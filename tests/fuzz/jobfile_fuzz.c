// A job file from outside. What is refused has a reason, and what is read can be filled in and written.
#include "state/base/check.h"
#include "tools/jobfile/jobfile.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *message = NULL;
	struct jobfile file = {
		.name = "input", .text = {(const char *)data, (uint32_t)size}, .lenient = true};
	json_t *job = jobfile_read(&file, &message);
	CHECK((job != NULL) == (message == NULL));
	CHECK(!message || *message);
	if (job) {
		jobfile_canonicalize(job);
		char *text = json_dumps(job, JSON_COMPACT);
		CHECK(text);
		free(text);
	}
	json_decref(job);
	free(message);
	return 0;
}
