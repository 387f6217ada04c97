#include "state/store/complaint.h"
#include <stdarg.h>
#include <stdio.h>

int complain(const struct complaint *complaint, int error, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	if (complaint->size > 0)
		vsnprintf(complaint->text, complaint->size, format, values);
	va_end(values);
	return error;
}
