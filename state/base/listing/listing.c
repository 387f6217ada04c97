#include "state/base/listing/listing.h"

struct dirent *listing_next(DIR *listing, int *error)
{
	errno = 0;
	struct dirent *entry = readdir(listing);
	if (!entry && errno != 0)
		*error = -errno;
	return entry;
}
