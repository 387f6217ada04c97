// berth tls: makes certificates, without a controller.
#include "state/base/error.h"
#include "state/base/text.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/commands/commands.h"
#include "tools/tls/certificate.h"
#include "tools/tls/pem_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 1024u
#define AUTHORITY_FILE "berth-ca"
#define AUTHORITY_DAYS 1825u
#define CERTIFICATE_DAYS 365u
#define DAYS_MAX 36500u
#define DAY_S 86400
// Clocks differ: what is made now is good on a machine whose clock is this much behind.
#define EARLY_S 300

// Where a certificate and its key go.
struct pair_paths {
	char certificate[PATH_BYTES], key[PATH_BYTES];
};

static bool set_paths(const struct flags *flags, const char *name, struct pair_paths *paths)
{
	const char *folder = flags->values[FLAG_DIRECTORY];
	int size = snprintf(paths->certificate, PATH_BYTES, "%s/%s.pem", folder, name);
	snprintf(paths->key, PATH_BYTES, "%s/%s-key.pem", folder, name);
	return size > 0 && size < (int)PATH_BYTES - 4;
}

// What both have in common. False after a complaint.
static bool read_wish(const struct flags *flags, uint64_t days, struct certificate_wish *wish)
{
	char message[256];
	const char *key = flags->values[FLAG_KEY_TYPE];
	if (!flag_number(flags, FLAG_DAYS, 1, DAYS_MAX, &days, message, sizeof message)) {
		complain(STATUS_USAGE, "%s", message);
		return false;
	}
	if (strcmp(key, "p256") != 0 && strcmp(key, "ed25519") != 0) {
		complain(STATUS_USAGE, "--key-type must be p256 or ed25519, not \"%s\"", key);
		return false;
	}
	int64_t now_s = (int64_t)(time_wall_ns(&time_source_real) / NS_PER_S);
	wish->key = strcmp(key, "p256") == 0 ? CERTIFICATE_KEY_P256 : CERTIFICATE_KEY_ED25519;
	wish->from_s = now_s - EARLY_S;
	wish->until_s = now_s + (int64_t)days * DAY_S;
	return true;
}

static enum exit_status not_written(const char *path, int error)
{
	return complain(STATUS_FAILURE, "%s: %s; %s", path, error_text(error),
		error == -EEXIST
			? "nothing is overwritten: move it away, or name another --directory"
			: "name another --directory");
}

// The key goes first: a certificate without its key is of no use to anybody.
static enum exit_status write_pair(const struct pair_paths *paths, const struct certificate *c)
{
	if (access(paths->certificate, F_OK) == 0)
		return not_written(paths->certificate, -EEXIST);
	int error = pem_file_write(paths->key, 0600, c->key);
	if (error)
		return not_written(paths->key, error);
	error = pem_file_write(paths->certificate, 0644, c->certificate);
	if (!error)
		return STATUS_OK;
	unlink(paths->key);
	return not_written(paths->certificate, error);
}

static void tell(const struct session *session, const struct pair_paths *paths,
	const struct certificate_wish *wish)
{
	char end[32];
	field_time(wish->until_s * (int64_t)NS_PER_S, end);
	if (!flag_given(&session->flags, FLAG_JSON)) {
		printf("Wrote %s, which holds until %s, and its key %s.\n", paths->certificate, end,
			paths->key);
		return;
	}
	json_t *answer = json_pack("{s:s, s:s, s:s}", "Certificate", paths->certificate, "Key",
		paths->key, "End", end);
	field_print(answer);
	json_decref(answer);
}

static enum exit_status keep_files(const struct session *session, const char *file,
	const struct certificate_wish *wish, const struct certificate *made)
{
	struct pair_paths paths;
	if (!set_paths(&session->flags, file, &paths))
		return complain(STATUS_USAGE, "--directory is too long");
	enum exit_status status = write_pair(&paths, made);
	if (status == STATUS_OK)
		tell(session, &paths, wish);
	return status;
}

enum exit_status tls_ca_create(struct session *session, const char **arguments, int count)
{
	char message[512];
	struct certificate made;
	struct certificate_wish wish = {.name = count ? arguments[0] : "Berth authority"};
	if (!read_wish(&session->flags, AUTHORITY_DAYS, &wish))
		return STATUS_USAGE;
	if (!authority_make(&wish, &made, message, sizeof message))
		return complain(STATUS_FAILURE, "%s", message);
	enum exit_status status = keep_files(session, AUTHORITY_FILE, &wish, &made);
	certificate_free(&made);
	return status;
}

// The authority's files, unless flags name others.
static enum exit_status read_authority_files(
	const struct flags *flags, struct certificate *authority)
{
	char message[PATH_BYTES + 256];
	struct pair_paths paths;
	if (!set_paths(flags, AUTHORITY_FILE, &paths))
		return complain(STATUS_USAGE, "--directory is too long");
	const char *certificate = flags->values[FLAG_CA], *key = flags->values[FLAG_CA_KEY];
	authority->certificate = pem_file_read("the authority (--ca)",
		certificate ? certificate : paths.certificate, message, sizeof message);
	authority->key = authority->certificate
				 ? pem_file_read("the authority's key (--ca-key)",
					   key ? key : paths.key, message, sizeof message)
				 : NULL;
	return authority->key
		       ? STATUS_OK
		       : complain(STATUS_FAILURE, "%s; berth tls ca create makes both", message);
}

// The name is that of the files, too.
static bool is_file_name(const char *name)
{
	return *name && *name != '.' && *name != '-' && !strchr(name, '/') &&
	       strlen(name) <= CERTIFICATE_NAME_BYTES_MAX && text_is_printable(text_of(name));
}

enum exit_status tls_cert_create(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	char message[512];
	const char *hosts[FLAG_WORDS_MAX], *host;
	struct certificate authority = {0}, made;
	struct certificate_wish wish = {.name = arguments[0], .hosts = hosts};
	uint32_t at = 0;
	if (!is_file_name(wish.name))
		return complain(STATUS_USAGE,
			"\"%s\" cannot name files: a certificate's name has 1 to %u characters, no "
			"slash, and begins with neither a dot nor a dash",
			wish.name, CERTIFICATE_NAME_BYTES_MAX);
	while ((host = flag_next(flags, FLAG_HOST, &at)))
		hosts[wish.host_count++] = host;
	if (wish.host_count > CERTIFICATE_HOSTS_MAX)
		return complain(STATUS_USAGE, "at most %u --host", CERTIFICATE_HOSTS_MAX);
	if (!read_wish(flags, CERTIFICATE_DAYS, &wish))
		return STATUS_USAGE;
	enum exit_status status = read_authority_files(flags, &authority);
	if (status == STATUS_OK &&
		!certificate_make(&wish, &authority, &made, message, sizeof message)) {
		status = complain(STATUS_FAILURE, "%s", message);
	} else if (status == STATUS_OK) {
		status = keep_files(session, wish.name, &wish, &made);
		certificate_free(&made);
	}
	certificate_free(&authority);
	return status;
}
