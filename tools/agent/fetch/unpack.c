#include "tools/agent/fetch/unpack.h"
#include "tools/agent/base/folders.h"
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (64u * 1024)
#define ENTRY_PATH_MAX 4096u
#define ENTRY_DEPTH_MAX 64u

static const char *const kinds[] = {"tar.gz", "tgz", "tar.bz2", "tbz2", "tar.xz", "txz", "tar.zst",
	"tzst", "tar", "zip", "gz", "bz2", "xz", "zst"};
#define FIRST_SINGLE 10u // of the kinds

const char *unpack_kind(const char *path)
{
	size_t size = strlen(path);

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t own = strlen(kinds[i]);
		if (size > own + 1 && path[size - own - 1] == '.' &&
			strcasecmp(path + size - own, kinds[i]) == 0)
			return kinds[i];
	}
	return NULL;
}

bool unpack_is_single(const char *kind)
{
	for (size_t i = FIRST_SINGLE; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

struct unpacking {
	const struct fetch_request *request;
	struct fetch_result *result;
	struct archive *archive;
	int folder;
	const char *name; // of the only file; NULL: all have their own
	uint64_t bytes;
	uint32_t entries, files;
};

// The entry's path without "." and empty parts. False: it leads out of the folder, or is too long or deep.
static bool clean_path(const char *path, char clean[static ENTRY_PATH_MAX])
{
	size_t size = 0;
	uint32_t depth = 0;

	clean[0] = '\0';
	while (*path) {
		size_t part = strcspn(path, "/");
		bool is_nothing = part == 0 || (part == 1 && path[0] == '.');
		if (part == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (!is_nothing) {
			if (part > 255 || size + part + 2 > ENTRY_PATH_MAX ||
				++depth > ENTRY_DEPTH_MAX)
				return false;
			if (size)
				clean[size++] = '/';
			memcpy(clean + size, path, part);
			size += part;
			clean[size] = '\0';
		}
		path += part + (path[part] == '/');
	}
	return true;
}

// A link leads out of the folder, or may do so by other links, unless it goes up no further than the folder and down
// only then.
static bool link_stays_inside(const char *path, const char *target)
{
	uint32_t depth = 0;
	bool goes_down = false;

	for (const char *at = path; (at = strchr(at, '/')); at++)
		depth++;
	if (*target == '/' || !*target)
		return false;
	while (*target) {
		size_t part = strcspn(target, "/");
		if (part == 2 && target[0] == '.' && target[1] == '.') {
			if (goes_down || depth-- == 0)
				return false;
		} else if (part > 0 && !(part == 1 && target[0] == '.')) {
			goes_down = true;
		}
		target += part + (target[part] == '/');
	}
	return true;
}

// The folder that an entry is in, and its name there. The caller closes the folder; -errno.
static int open_parent(const struct unpacking *u, char *path, const char **name)
{
	char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	if (!slash)
		return fcntl(u->folder, F_DUPFD_CLOEXEC, 3);
	*slash = '\0';
	int parent = folder_reach(u->folder, path, 0755);
	*slash = '/';
	return parent;
}

static bool write_at(int file, const void *data, size_t size, int64_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(
			file, (const char *)data + done, size - done, offset + (int64_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool read_failed(struct unpacking *u)
{
	const char *said = archive_error_string(u->archive);
	return fetch_fail(u->result, false, "the archive cannot be read: %.200s",
		said ? said : "it is damaged");
}

static bool write_contents(struct unpacking *u, int file, const char *path)
{
	const void *data;
	size_t size;
	la_int64_t offset;
	int64_t end = 0;
	int rc;

	while ((rc = archive_read_data_block(u->archive, &data, &size, &offset)) == ARCHIVE_OK) {
		// Holes count: what reads the file reads them.
		if (offset < end ||
			(uint64_t)(offset - end) + size > u->request->bytes_max - u->bytes)
			return fetch_fail(u->result, false,
				"it unpacks to more than %llu bytes, which is what "
				"--artifact-max-mb "
				"allows",
				(unsigned long long)u->request->bytes_max);
		u->bytes += (uint64_t)(offset - end) + size;
		end = offset + (int64_t)size;
		if (!write_at(file, data, size, offset))
			return fetch_fail(
				u->result, true, "cannot write %.200s: %s", path, strerror(errno));
	}
	return rc == ARCHIVE_EOF || read_failed(u);
}

static bool unpack_file(
	struct unpacking *u, struct archive_entry *entry, int parent, const char *name)
{
	mode_t mode = archive_entry_mode(entry) & 0777;

	if (u->name && u->files > 0)
		return fetch_fail(u->result, false,
			"the archive has more than one file, so that the mode \"file\" does not "
			"fit");
	u->files++;
	// A link of this name is replaced, not followed.
	if (unlinkat(parent, name, 0) < 0 && errno != ENOENT)
		return fetch_fail(
			u->result, false, "cannot replace %.200s: %s", name, strerror(errno));
	int file = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		mode ? mode | 0600 : 0644);
	if (file < 0)
		return fetch_fail(u->result, true, "cannot make %.200s: %s", name, strerror(errno));
	bool good = write_contents(u, file, name);
	if (close(file) < 0 && good)
		good = fetch_fail(
			u->result, true, "cannot write %.200s: %s", name, strerror(errno));
	return good;
}

static bool make_symlink(
	struct unpacking *u, const char *path, const char *target, int parent, const char *name)
{
	if (!link_stays_inside(path, target))
		return fetch_fail(u->result, false,
			"the archive has a link that leads out of it: %.150s to %.150s", path,
			target);
	if ((unlinkat(parent, name, 0) < 0 && errno != ENOENT) ||
		symlinkat(target, parent, name) < 0)
		return fetch_fail(
			u->result, false, "cannot link %.200s: %s", path, strerror(errno));
	return true;
}

// To a file of the archive that is there already.
static bool make_hard_link(
	struct unpacking *u, const char *target, int parent, const char *path, const char *name)
{
	char clean[ENTRY_PATH_MAX];
	const char *target_name;

	if (!clean_path(target, clean) || !*clean)
		return fetch_fail(u->result, false,
			"the archive has a link that leads out of it: %.150s to %.150s", path,
			target);
	int target_parent = open_parent(u, clean, &target_name);
	bool good = target_parent >= 0 && (unlinkat(parent, name, 0) == 0 || errno == ENOENT) &&
		    linkat(target_parent, target_name, parent, name, 0) == 0;
	if (!good)
		fetch_fail(u->result, false, "cannot link %.150s to %.150s: %s", path, target,
			strerror(target_parent < 0 ? -target_parent : errno));
	if (target_parent >= 0)
		close(target_parent);
	return good;
}

static bool unpack_below(struct unpacking *u, struct archive_entry *entry, char *path)
{
	const char *hard_link = archive_entry_hardlink(entry), *name;
	const char *target = archive_entry_symlink(entry);
	mode_t type = archive_entry_filetype(entry);
	bool good;
	int parent = open_parent(u, path, &name);

	if (parent < 0)
		return fetch_fail(u->result, false, "cannot make the folder of %.200s: %s", path,
			strerror(-parent));
	if (hard_link && u->name)
		good = fetch_fail(u->result, false,
			"the archive has more than one file, so that the mode \"file\" does not "
			"fit");
	else if (hard_link)
		good = make_hard_link(u, hard_link, parent, path, name);
	else if (type == AE_IFLNK && !u->name)
		good = make_symlink(u, path, target ? target : "", parent, name);
	else if (type == AE_IFREG)
		good = unpack_file(u, entry, parent, name);
	else
		good = fetch_fail(u->result, false,
			"the archive has something that is no file, folder or link: %.200s", path);
	close(parent);
	return good;
}

static bool unpack_entry(struct unpacking *u, struct archive_entry *entry)
{
	const char *said = archive_entry_pathname(entry);
	char path[ENTRY_PATH_MAX];

	if (++u->entries > u->request->files_max)
		return fetch_fail(u->result, false,
			"it holds more than %u files, which is what --artifact-max-files allows",
			u->request->files_max);
	if (!said || !clean_path(said, path))
		return fetch_fail(u->result, false,
			"the archive has a path that leads out of it, or is too long: %.200s",
			said ? said : "");
	if (archive_entry_filetype(entry) != AE_IFDIR || archive_entry_hardlink(entry)) {
		if (u->name) // the one file, in whatever folder it says
			snprintf(path, sizeof path, "%s", u->name);
		return *path ? unpack_below(u, entry, path)
			     : fetch_fail(
				       u->result, false, "the archive has a file without a name");
	}
	if (!*path || u->name)
		return true;
	int folder = folder_reach(u->folder, path, 0755);
	if (folder < 0)
		return fetch_fail(u->result, false, "cannot make the folder %.200s: %s", path,
			strerror(-folder));
	close(folder);
	return true;
}

static bool unpack_all(struct unpacking *u)
{
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(u->archive, &entry)) == ARCHIVE_OK ||
		rc == ARCHIVE_WARN)
		if (!unpack_entry(u, entry))
			return false;
	if (rc != ARCHIVE_EOF)
		return read_failed(u);
	if (u->name && u->files == 0)
		return fetch_fail(u->result, false, "the archive has no file");
	return true;
}

static bool open_archive(struct archive *a, const char *kind, int file)
{
	bool is_single = unpack_is_single(kind);

	return archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
	       archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
	       archive_read_support_filter_xz(a) == ARCHIVE_OK &&
	       archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
	       (is_single ? archive_read_support_format_raw(a)
			  : archive_read_support_format_tar(a)) == ARCHIVE_OK &&
	       (is_single ? true : archive_read_support_format_zip_seekable(a) == ARCHIVE_OK) &&
	       archive_read_open_fd(a, file, READ_BYTES) == ARCHIVE_OK;
}

bool unpack(const struct fetch_request *request, const char *kind, int file, int folder,
	const char *name, struct fetch_result *result)
{
	struct unpacking u = {.request = request, .result = result, .folder = folder, .name = name};
	bool good;

	u.archive = archive_read_new();
	if (!u.archive)
		return fetch_fail(result, true, "libarchive cannot be set up");
	good = open_archive(u.archive, kind, file) ? unpack_all(&u) : read_failed(&u);
	archive_read_free(u.archive);
	return good;
}
