#include "tests/tools/agent/fetch/archives.h"
#include "tests/tools/agent/fetch/web.h"
#include <archive.h>
#include <archive_entry.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static void add_entry(struct archive *a, const struct web_entry *e)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, e->path);
	archive_entry_set_filetype(entry, e->type ? e->type : AE_IFREG);
	archive_entry_set_perm(entry, e->mode ? e->mode : 0644);
	archive_entry_set_size(entry, e->contents ? (la_int64_t)strlen(e->contents) : 0);
	if (e->type == AE_IFLNK)
		archive_entry_set_symlink(entry, e->link);
	else if (e->link)
		archive_entry_set_hardlink(entry, e->link);
	assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
	if (e->contents)
		archive_write_data(a, e->contents, strlen(e->contents));
	archive_entry_free(entry);
}

void web_put_archive(const char *path, const struct web_entry *entries, size_t count)
{
	static char bytes[200000];
	size_t size = 0;
	struct archive *a = archive_write_new();
	bool is_zip = strstr(path, ".zip");

	assert_int_equal(is_zip ? archive_write_set_format_zip(a)
				: archive_write_set_format_pax_restricted(a),
		ARCHIVE_OK);
	if (strstr(path, "gz"))
		archive_write_add_filter_gzip(a);
	else if (strstr(path, "bz2"))
		archive_write_add_filter_bzip2(a);
	else if (strstr(path, "xz"))
		archive_write_add_filter_xz(a);
	else if (strstr(path, "zst"))
		archive_write_add_filter_zstd(a);
	assert_int_equal(archive_write_open_memory(a, bytes, sizeof bytes, &size), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++)
		add_entry(a, &entries[i]);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
	web_put(path, bytes, size);
}
