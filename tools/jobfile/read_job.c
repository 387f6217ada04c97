// A job file from its text to the API's form.
#include "tools/jobfile/jobfile.h"
#include "tools/jobfile/variables.h"

bool jobfile_is_json(struct text text)
{
	uint32_t i = 0;
	if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	while (i < text.size && strchr(" \t\r\n", text.data[i]) && text.data[i])
		i++;
	return i < text.size && text.data[i] == '{';
}

static const struct hcl2_block *find_job(struct decoder *decoder, const struct hcl2_body *file)
{
	const struct hcl2_block *job = NULL;
	for (const struct hcl2_block *b = file->blocks; b; b = b->next) {
		if (!text_equal(b->type, TEXT("job")))
			continue;
		if (job)
			hcl2_mistake(decoder->run, b->header, "There may be only one job.");
		else
			job = b;
	}
	if (!job)
		hcl2_mistake(decoder->run, (struct hcl2_range){0}, "A block \"job\" is required.");
	return job;
}

static json_t *decode_job(
	struct decoder *decoder, const struct hcl2_body *file, const struct hcl2_scope *scope)
{
	const struct hcl2_block *block = find_job(decoder, file);
	if (!block)
		return NULL;
	struct job_body body = {block->body, scope};
	json_t *job = decode_body(decoder, &job_schema, &body);
	struct text name = block->labels[0].text;
	if (json_is_absent(json_object_get(job, "Name")))
		json_object_set_new(job, "Name", text_json(name));
	if (json_is_absent(json_object_get(job, "ID")))
		json_object_set_new(job, "ID", text_json(name));
	return job;
}

json_t *jobfile_read(const struct jobfile *options, char **message)
{
	struct hcl2_run run;
	struct decoder decoder = {&run};
	struct hcl2_scope scope = {.unknown_is_text = true};
	json_t *job = NULL;
	hcl2_run_begin(&run);
	run.files_from = options->files_from;
	const struct hcl2_body *file = hcl2_parse(&run, options->name, options->text);
	if (file && variables_read(&decoder, options, file, &scope))
		job = decode_job(&decoder, file, &scope);
	(void)hcl2_step(&run, (struct hcl2_range){0}); // what took too much has not said so yet
	if (run.mistake_count) {
		*message = text_copy(text_of(hcl2_mistakes_text(&run)));
		json_decref(job);
		job = NULL;
	}
	hcl2_run_end(&run);
	return job;
}
