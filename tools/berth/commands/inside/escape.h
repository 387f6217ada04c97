// The character by which whoever types speaks to this program instead of to the other end: at the beginning of a line,
// followed by a dot, it ends the talk; doubled it stands for itself.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct escape {
	char character; // 0: none
	bool is_within_line;
	bool is_held; // the character came, and what follows decides
};

// Copies what is for the other end, at most size + 1 bytes. Returns how many; *leaves: the talk is over.
size_t escape_filter(
	struct escape *, const uint8_t *typed, size_t size, uint8_t *out, bool *leaves);
