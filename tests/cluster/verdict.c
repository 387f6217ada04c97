#include "tests/cluster/verdict.h"
#include "state/base/check.h"
#include "state/store/complaint.h"
#include <stdarg.h>
#include <stdio.h>

void verdict_begin(struct verdict *v)
{
	*v = (struct verdict){json_array(), json_object()};
	CHECK(v->complaints && v->logs);
}

void verdict_end(struct verdict *v)
{
	json_decref(v->complaints);
	json_decref(v->logs);
}

void verdict_complain(
	struct verdict *v, const char *kind, const char *name, const char *format, ...)
{
	char text[COMPLAINT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	CHECK(json_array_append_new(v->complaints, json_sprintf("%s: %s: %s", kind, name, text)) ==
		0);
}
