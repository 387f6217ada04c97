#include "state/base/check.h"
#include "state/verify/verifier.h"
#include <stdarg.h>
#include <stdio.h>

void expect(struct verifier *v, bool holds, const char *format, ...)
{
	char text[256];
	va_list arguments;

	if (holds)
		return;
	v->violations++;
	if (!v->report)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	v->report(text, v->context);
}
