// What both ways share.
#pragma once
#include "tools/archive/snapshot_archive.h"
#include <archive.h>
#include <archive_entry.h>
#include <sodium.h>

#define ARCHIVE_META "meta.json"
#define ARCHIVE_STATE "state.bin"
#define ARCHIVE_SUMS "SHA256SUMS"
#define ARCHIVE_PIECE_BYTES (1u << 20)
#define HEX_DIGEST_BYTES (2 * SNAPSHOT_DIGEST_BYTES + 1)

_Static_assert(SNAPSHOT_DIGEST_BYTES == crypto_hash_sha256_BYTES, "a digest fits");
