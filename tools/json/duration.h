// Durations as people and Nomad's clients write them: "30s", "1h30m", "1.5s", "250ms".
#pragma once
#include <stdbool.h>
#include <stdint.h>

// False when text is no duration or too long for ns.
bool duration_parse(const char *text, int64_t *ns);
