#include "tests/support/broken_listing.h"
#include "state/base/listing/listing.h"
#include <stddef.h>

_Atomic bool listings_break;
_Atomic uint32_t listings_entries_left;

struct dirent *__real_listing_next(DIR *, int *error); // NOLINT: names of the linker
struct dirent *__wrap_listing_next(DIR *, int *error);

struct dirent *__wrap_listing_next(DIR *listing, int *error)
{
	bool is_whole = !listings_break || listings_entries_left > 0;
	if (listings_break && is_whole)
		listings_entries_left--;
	if (is_whole)
		return __real_listing_next(listing, error);
	*error = -EIO;
	return NULL;
}
