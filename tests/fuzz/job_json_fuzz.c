// Bytes of a request → job → canonical → checked → stored and shown, and both read back equal.
#include "placement/job_check/job_check.h"
#include "state/base/check.h"
#include "tools/forms/job_body.h"
#include "tools/json/json_record.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is stored of a job is the job.
static void check_binary(const struct job *job)
{
	struct bytes_writer writer = bytes_writer_growing(256);
	record_encode(&job_type_description, job, &writer);
	if (!writer.failed) {
		struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
		struct job *again = job_create();
		record_release(&job_type_description, again);
		CHECK(record_decode(&job_type_description, again, &reader) == 0);
		CHECK(bytes_left(&reader) == 0);
		CHECK(record_equal(&job_type_description, job, again));
		job_free(again);
	}
	bytes_writer_free(&writer);
}

// What is shown of a canonical job, submitted again, is the same specification.
static void check_json(const struct job *job)
{
	char message[256];
	struct json_writer writer = {0};
	json_begin_object(&writer);
	json_write_key(&writer, "Job");
	json_record(&writer, &job_type_description, job);
	json_end_object(&writer);
	size_t size = writer.size;
	char *text = json_writer_take(&writer);
	struct job_body again;
	CHECK(job_body_read(text, size, NULL, &again, message, sizeof message));
	CHECK(job_body_is_valid(&again));
	CHECK(again.report.warnings.count == 0);
	CHECK(!job_specification_differs(job, again.job));
	job_body_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[256] = "";
	struct job_body request;
	if (!job_body_read((const char *)data, size, NULL, &request, message, sizeof message)) {
		CHECK(message[0]);
		return 0;
	}
	if (request.job)
		check_binary(request.job);
	if (job_body_is_valid(&request))
		check_json(request.job);
	job_body_free(&request);
	return 0;
}
