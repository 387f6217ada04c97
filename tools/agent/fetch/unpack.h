// Archives (libarchive): unpacked entry by entry below an open folder, whatever they hold. Nothing is written through a
// link, no entry and no link leads out of the folder, there are files, folders and links only, without setuid bits, and
// no more than the request allows.
#pragma once
#include "tools/agent/fetch/request.h"

// How a path ends, without the dot, if it is one of an archive: "tar.gz"; NULL: it is none.
const char *unpack_kind(const char *path);
// Whether the kind is of one compressed file, and not of many.
bool unpack_is_single(const char *kind);
// Unpacks an open file. name: of the one file, of such a kind, or with FETCH_FILE of whatever the archive has alone.
bool unpack(const struct fetch_request *, const char *kind, int file, int folder, const char *name,
	struct fetch_result *);
