// JSON that was made here, as text.
#pragma once
#include <jansson.h>

// Takes the value over, which must be there. The caller frees.
char *cluster_json_text(json_t *);
