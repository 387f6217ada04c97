#include "placement/constraint/constraint_error.h"
#include <stdarg.h>
#include <stdio.h>

void *constraint_refuse(struct constraint_error *error, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(error->text, sizeof error->text, format, values);
	va_end(values);
	return NULL;
}
