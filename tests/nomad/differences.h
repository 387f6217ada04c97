// docs/nomad-differences.md: what is meant to differ.
#pragma once
#include <stdbool.h>

// Whether the page has these words.
bool differences_say(const char *words);
