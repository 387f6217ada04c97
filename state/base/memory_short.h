// For who asks others for memory than memory.h.
#pragma once
#include <stddef.h>

// Ends the process with a sentence. bytes: of what was refused, 0 where nobody knows.
_Noreturn void memory_is_short(size_t bytes);
