// Paths of objects that have a name and no id.
#pragma once
#include "tools/berth/cli/http.h"

// "<folder>/NAME<suffix>"; path has HTTP_PATH_BYTES. Returns path.
const char *name_path(const char *folder, const char *name, const char *suffix, char *path);
