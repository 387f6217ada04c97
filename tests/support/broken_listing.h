// Listings of folders that break off, as of a disk that cannot be read: for tests that are linked with broken_listing.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Whoever asks for an entry by listing_next() gets -EIO instead, but for the first so many. False and 0 at first; any
// thread.
extern _Atomic bool listings_break;
extern _Atomic uint32_t listings_entries_left;
