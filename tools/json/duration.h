// Durations as people and Nomad's clients write them: "30s", "1h30m", "1.5s", "250ms".
#pragma once
#include <stdbool.h>
#include <stdint.h>

// False when text is no duration or too long for ns.
bool duration_parse(const char *text, int64_t *ns);

#define DURATION_TEXT_BYTES 32
// As Nomad writes them: "1h0m0s", "1.5s", "250ms", "0s". Returns text.
char *duration_format(int64_t ns, char text[static DURATION_TEXT_BYTES]);
