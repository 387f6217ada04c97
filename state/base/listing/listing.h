// What a folder has in it.
#pragma once
#include "state/base/failpoint/failpoint.h"
#include <dirent.h>
#include <errno.h>

// The next entry, until the following call; NULL: that was all, or *error is -errno, and there may be more. id: of the
// failpoint. Any thread, with a listing of its own.
#define LISTING_NEXT(id, listing, error) \
	(FAILPOINT(id) ? (*(error) = -errno, (struct dirent *)NULL) : listing_next(listing, error))
struct dirent *listing_next(DIR *, int *error);
