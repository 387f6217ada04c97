#include "tools/api/orchard/vm_subject.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static void free_subject(void *context)
{
	struct subject *subject = context;
	json_report_free(&subject->report);
	free(subject->name);
	free(subject);
}

struct subject *subject_begin(struct request *request)
{
	CHECK(!request->context);
	struct subject *subject = memory_take(sizeof *subject);
	request->context = subject;
	request->context_free = free_subject;
	return subject;
}

const char *subject_name(const struct request *request)
{
	const struct subject *subject = request->context;
	return subject ? subject->name : NULL;
}

void subject_warnings_json(struct json_writer *w, const struct request *request)
{
	const struct subject *subject = request->context;
	if (!subject || subject->report.warnings.count == 0)
		return;
	const struct json_sentences *warnings = &subject->report.warnings;
	json_open_array(w, "warnings");
	for (uint32_t i = 0; i < warnings->count && i < JSON_SENTENCES_MAX; i++)
		json_write_string(w, warnings->texts[i]);
	json_end_array(w);
}
