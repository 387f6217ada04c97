#include "tests/failpoints/words.h"
#include "state/base/check.h"
#include <stdarg.h>
#include <stdio.h>

void words_add(struct words *w, const char *format, ...)
{
	va_list arguments;

	CHECK(w->count < WORDS_MOST);
	va_start(arguments, format);
	int size = vsnprintf(w->text[w->count], sizeof w->text[0], format, arguments);
	va_end(arguments);
	CHECK(size >= 0 && (size_t)size < sizeof w->text[0]);
	w->at[w->count] = w->text[w->count];
	w->at[++w->count] = NULL;
}

void words_add_settings(struct words *w, const char *const *settings)
{
	for (; *settings; settings++)
		words_add(w, "--%s", *settings);
}
