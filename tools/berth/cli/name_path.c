#include "tools/berth/cli/name_path.h"
#include <stdio.h>

const char *name_path(const char *folder, const char *name, const char *suffix, char *path)
{
	char escaped[400];
	http_escape(name, escaped, sizeof escaped);
	snprintf(path, HTTP_PATH_BYTES, "%s/%s%s", folder, escaped, suffix);
	return path;
}
