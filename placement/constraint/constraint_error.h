// Why a constraint was refused, as a sentence without its place ("operator \"=<\" is not known; …").
#pragma once

#define CONSTRAINT_ERROR_BYTES 320

struct constraint_error {
	char text[CONSTRAINT_ERROR_BYTES];
};

// Formats into error->text; returns NULL, so that a compile function can end with it.
void *constraint_refuse(struct constraint_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
