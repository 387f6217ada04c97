#include "tools/berth/cli/session.h"
#include <stdarg.h>
#include <stdio.h>

enum exit_status complain(enum exit_status status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("berth: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return status;
}
