#include "tools/agent/fetch/request.h"
#include <stdarg.h>
#include <stdio.h>

bool fetch_fail(struct fetch_result *result, bool may_help, const char *format, ...)
{
	va_list arguments;

	result->is_done = false;
	result->may_help = may_help;
	va_start(arguments, format);
	vsnprintf(result->message, sizeof result->message, format, arguments);
	va_end(arguments);
	return false;
}

json_t *fetch_request_write(const struct fetch_request *r)
{
	return json_pack("{s:s s:s s:s s:s s:s s:O* s:i s:I s:I s:I}", "URL", r->url, "Destination",
		r->destination, "Archive", r->archive, "FileName", r->file_name, "Checksum",
		r->checksum, "Headers", r->headers, "Mode", (int)r->mode, "BytesMax",
		(json_int_t)r->bytes_max, "FilesMax", (json_int_t)r->files_max, "TimeoutS",
		(json_int_t)r->timeout_s);
}

bool fetch_request_read(const json_t *json, struct fetch_request *r)
{
	json_int_t bytes_max, files_max, timeout_s;
	int mode;

	*r = (struct fetch_request){.headers = json_object_get(json, "Headers")};
	if (json_unpack((json_t *)json, "{s:s s:s s:s s:s s:s s:i s:I s:I s:I}", "URL", &r->url,
		    "Destination", &r->destination, "Archive", &r->archive, "FileName",
		    &r->file_name, "Checksum", &r->checksum, "Mode", &mode, "BytesMax", &bytes_max,
		    "FilesMax", &files_max, "TimeoutS", &timeout_s) < 0 ||
		mode < FETCH_ANY || mode > FETCH_DIR)
		return false;
	r->mode = (enum fetch_mode)mode;
	r->bytes_max = (uint64_t)bytes_max;
	r->files_max = (uint32_t)files_max;
	r->timeout_s = (uint32_t)timeout_s;
	return true;
}
