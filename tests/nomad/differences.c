#include "tests/nomad/differences.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

bool differences_say(const char *words)
{
	static char text[65536];
	FILE *file = fopen(DIFFERENCES_PAGE, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return strstr(text, words);
}
