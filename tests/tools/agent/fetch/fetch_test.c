// Artifacts from a real web server: files and archives, checksums, and servers and archives that mean ill.
#include "tests/tools/agent/fetch/archives.h"
#include "tests/tools/agent/fetch/web.h"
#include "tests/tools/tls/made.h"
#include "tools/agent/fetch/fetch.h"
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static int top;

static int set_up(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-fetch-XXXXXX");
	assert_non_null(mkdtemp(folder));
	top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	web_begin(NULL, NULL);
	return top < 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int tear_down(void **unused)
{
	web_end();
	close(top);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct fetch_request ask(const char *path)
{
	return (struct fetch_request){.url = web_url(path),
		.destination = "t/local",
		.archive = "",
		.file_name = "",
		.checksum = "",
		.bytes_max = 100000,
		.files_max = 20,
		.timeout_s = 20};
}

static void expect_fetched(const struct fetch_request *request)
{
	struct fetch_result result;
	fetch_artifact(request, top, &result);
	if (!result.is_done)
		fail_msg("%s: %s", request->url, result.message);
}

static void expect_refused(const struct fetch_request *request, bool may_help, const char *why)
{
	struct fetch_result result;
	fetch_artifact(request, top, &result);
	assert_false(result.is_done);
	if (!strstr(result.message, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", request->url, result.message, why);
	assert_int_equal(result.may_help, may_help);
}

static void expect_file(const char *path, const char *contents, mode_t mode)
{
	char whole[300], text[200] = "";
	struct stat st;
	snprintf(whole, sizeof whole, "%s/%s", folder, path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		fail_msg("there is no %s: %s", path, strerror(errno));
	assert_true(read(fd, text, sizeof text - 1) >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_string_equal(text, contents);
	assert_int_equal(st.st_mode & 07777, mode);
}

static bool is_there(const char *path)
{
	struct stat st;
	return fstatat(top, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void a_file_is_put_where_it_belongs(void **unused)
{
	web_put("a/tool", "hello", 5);
	struct fetch_request r = ask("a/tool");
	expect_fetched(&r);
	expect_file("t/local/tool", "hello", 0644);
	web_put("a/tool", "again", 5);
	expect_fetched(&r); // in the place of the old one
	expect_file("t/local/tool", "again", 0644);
	r.file_name = "other";
	expect_fetched(&r);
	expect_file("t/local/other", "again", 0644);
	r.mode = FETCH_FILE;
	r.destination = "t/local/deep/er/named";
	expect_fetched(&r);
	expect_file("t/local/deep/er/named", "again", 0644);
	r = ask("redirect/a/tool");
	r.destination = "alloc/data";
	expect_fetched(&r);
	expect_file("alloc/data/tool", "again", 0644);
}

static void headers_and_queries_reach_the_server(void **unused)
{
	struct fetch_request r = ask("echo?a=1&b=x%20y");
	json_t *headers = json_pack("{s:s}", "X-Token", "secret");
	r.headers = headers;
	expect_fetched(&r);
	expect_file("t/local/echo", "a=1;b=x y;secret", 0644);
	json_t *written = fetch_request_write(&r);
	struct fetch_request again;
	assert_true(fetch_request_read(written, &again));
	assert_string_equal(again.url, r.url);
	assert_int_equal(again.bytes_max, r.bytes_max);
	assert_true(json_equal(again.headers, headers));
	json_decref(written);
	json_decref(headers);
	json_t *wrong = json_pack("{s:s}", "URL", "x");
	assert_false(fetch_request_read(wrong, &again));
	json_decref(wrong);
}

static void checksums_are_compared(void **unused)
{
	static const char *const right[] = {"md5:5d41402abc4b2a76b9719d911017c592",
		"sha1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D",
		"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
		"sha512:"
		"9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c"
		"7"
		"acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043"};
	web_put("f", "hello", 5);
	struct fetch_request r = ask("f");
	for (size_t i = 0; i < 4; i++) {
		r.checksum = right[i];
		expect_fetched(&r);
	}
	expect_file("t/local/f", "hello", 0644);
	web_put("f", "other", 5);
	expect_refused(&r, true, "the checksum is ");
	expect_file("t/local/f", "hello", 0644); // what was there stays
	r.checksum = "crc:12";
	expect_refused(&r, false, "of no known type");
}

static void archives_are_unpacked(void **unused)
{
	static const char *const names[] = {
		"x.tar", "x.tar.gz", "x.tgz", "x.tar.bz2", "x.tar.xz", "x.tar.zst", "x.zip"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char place[64], path[100];
		WEB_PUT_ARCHIVE(names[i], {"bin", NULL, AE_IFDIR, 0755, NULL},
			{"./bin/run", "#!/bin/sh\n", 0, 0755, NULL},
			{"read\303\251", "me", 0, 0600, NULL});
		struct fetch_request r = ask(names[i]);
		snprintf(place, sizeof place, "t/%zu", i);
		r.destination = place;
		r.mode = i % 2 ? FETCH_DIR : FETCH_ANY;
		expect_fetched(&r);
		snprintf(path, sizeof path, "%s/bin/run", place);
		expect_file(path, "#!/bin/sh\n", 0755);
		snprintf(path, sizeof path, "%s/read\303\251", place);
		expect_file(path, "me", 0600);
		expect_fetched(&r); // over itself
		snprintf(path, sizeof path, "%s/%s", place, names[i]);
		assert_false(is_there(path));
	}
}

static void archives_may_be_left_or_named(void **unused)
{
	WEB_PUT_ARCHIVE("a.tar.gz", {"in", "side", 0, 0, NULL});
	web_put("plain", "x", 1);
	struct fetch_request r = ask("a.tar.gz");
	r.archive = "false";
	expect_fetched(&r);
	assert_true(is_there("t/local/a.tar.gz"));
	assert_false(is_there("t/local/in"));
	WEB_PUT_ARCHIVE("download", {"in.zip", "side", 0, 0, NULL});
	r = ask("download");
	r.archive = "tar";
	expect_fetched(&r);
	expect_file("t/local/in.zip", "side", 0644);
	WEB_PUT_ARCHIVE("one.zip", {"deep/in", "side", 0, 0, NULL});
	r = ask("one.zip");
	r.mode = FETCH_FILE;
	r.destination = "t/local/renamed";
	expect_fetched(&r);
	expect_file("t/local/renamed", "side", 0644);
	assert_false(is_there("t/local/deep"));
	WEB_PUT_ARCHIVE("two.zip", {"a", "1", 0, 0, NULL}, {"b", "2", 0, 0, NULL});
	r.url = web_url("two.zip");
	expect_refused(&r, false, "more than one file");
	r = ask("plain");
	r.mode = FETCH_DIR;
	expect_refused(&r, false, "it is no archive");
}

static void one_compressed_file_is_unpacked(void **unused)
{
	static const uint8_t gz[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9,
		0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0};
	web_put("notes.txt.gz", gz, sizeof gz);
	struct fetch_request r = ask("notes.txt.gz");
	expect_fetched(&r);
	expect_file("t/local/notes.txt", "hello", 0644);
}

static void links_stay_inside(void **unused)
{
	WEB_PUT_ARCHIVE("l.tar", {"lib/v1/so", "x", 0, 0, NULL},
		{"lib/so", NULL, AE_IFLNK, 0777, "v1/so"},
		{"bin/so", NULL, AE_IFLNK, 0777, "../lib/so"}, {"hard", NULL, 0, 0, "lib/v1/so"});
	struct fetch_request r = ask("l.tar");
	expect_fetched(&r);
	expect_fetched(&r);
	expect_file("t/local/hard", "x", 0644);
	char target[64] = "";
	assert_true(readlinkat(top, "t/local/bin/so", target, sizeof target - 1) > 0);
	assert_string_equal(target, "../lib/so");
}

// Whatever an archive holds, nothing comes to be outside of its folder.
static void hostile_archives_are_refused(void **unused)
{
	static const char leaves[] = "leads out of it";
	static const struct {
		struct web_entry entries[3];
		const char *why;
	} cases[] = {
		{{{"../evil", "x", 0, 0, NULL}}, leaves},
		{{{"a/../../evil", "x", 0, 0, NULL}}, leaves},
		{{{"ln", NULL, AE_IFLNK, 0777, "/etc"}}, leaves},
		{{{"ln", NULL, AE_IFLNK, 0777, ".."}}, leaves},
		{{{"a/ln", NULL, AE_IFLNK, 0777, "../../evil"}}, leaves},
		{{{"a/ln", NULL, AE_IFLNK, 0777, "b/../../x"}}, leaves},
		{{{"a/b/ln", NULL, AE_IFLNK, 0777, "c/../x"}}, leaves},
		{{{"ln", NULL, AE_IFLNK, 0777, "."}, {"ln/evil", "x", 0, 0, NULL}},
			"cannot make the folder"},
		{{{"hard", NULL, 0, 0, "../../secret"}}, leaves},
		{{{"ln", NULL, AE_IFLNK, 0777, "sub"}, {"hard", NULL, 0, 0, "ln/x"}},
			"cannot link"},
		{{{"fifo", NULL, AE_IFIFO, 0644, NULL}}, "no file, folder or link"},
		{{{"dev", NULL, AE_IFCHR, 0644, NULL}}, "no file, folder or link"},
		{{{"d", NULL, AE_IFDIR, 0755, NULL}, {"d", "x", 0, 0, NULL}}, "cannot replace"},
	};
	web_put("secret", "s", 1);
	int fd = openat(top, "secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char place[32];
		size_t count = 1;
		while (count < 3 && cases[i].entries[count].path)
			count++;
		web_put_archive("evil.tar", cases[i].entries, count);
		struct fetch_request r = ask("evil.tar");
		snprintf(place, sizeof place, "e/%zu", i);
		r.destination = place;
		expect_refused(&r, false, cases[i].why);
	}
	assert_false(is_there("evil"));
	assert_false(is_there("e/evil"));
	struct stat st;
	assert_int_equal(fstatat(top, "secret", &st, 0), 0);
	assert_int_equal(st.st_nlink, 1);
}

static void no_bit_gives_rights(void **unused)
{
	WEB_PUT_ARCHIVE("s.tar", {"su", "x", 0, 06755, NULL}, {"none", "x", 0, 01, NULL});
	struct fetch_request r = ask("s.tar");
	umask(022);
	expect_fetched(&r);
	expect_file("t/local/su", "x", 0755);
	expect_file("t/local/none", "x", 0601);
}

// A task's other files may be links; nothing is written through them.
static void links_in_the_way_are_not_followed(void **unused)
{
	WEB_PUT_ARCHIVE("w.tar", {"f", "new", 0, 0, NULL}, {"d/g", "new", 0, 0, NULL});
	web_put("f", "new", 3);
	assert_int_equal(mkdirat(top, "t", 0755), 0);
	assert_int_equal(mkdirat(top, "t/local", 0755), 0);
	assert_int_equal(mkdirat(top, "outside", 0755), 0);
	assert_int_equal(symlinkat("../../outside/f", top, "t/local/f"), 0);
	struct fetch_request r = ask("f");
	expect_fetched(&r);
	expect_file("t/local/f", "new", 0644);
	assert_int_equal(symlinkat("../../outside", top, "t/local/d"), 0);
	r = ask("w.tar");
	expect_refused(&r, false, "cannot make the folder of d/g");
	r = ask("f");
	r.destination = "t/local/d";
	expect_refused(&r, false, "cannot make the folder t/local/d");
	assert_false(is_there("outside/f"));
	assert_false(is_there("outside/g"));
}

static void what_is_too_large_is_refused(void **unused)
{
	static char zeros[150000];
	struct web_entry many[30];
	for (size_t i = 0; i < 30; i++)
		many[i] = (struct web_entry){.path = "f", .contents = ""};
	memset(zeros, '0', sizeof zeros - 1);
	web_put("big", zeros, 100001);
	struct fetch_request r = ask("big");
	expect_refused(&r, false, "larger than 100000 bytes");
	assert_false(is_there("t/local/big"));
	r = ask("endless");
	expect_refused(&r, false, "larger than 100000 bytes");
	WEB_PUT_ARCHIVE("bomb.tar.gz", {"zeros", zeros, 0, 0, NULL});
	r = ask("bomb.tar.gz");
	expect_refused(&r, false, "unpacks to more than 100000 bytes");
	zeros[60000] = '\0';
	WEB_PUT_ARCHIVE("two.tar.gz", {"a", zeros, 0, 0, NULL}, {"b", zeros, 0, 0, NULL});
	r = ask("two.tar.gz");
	expect_refused(&r, false, "unpacks to more than 100000 bytes");
	web_put_archive("many.zip", many, 30);
	r = ask("many.zip");
	expect_refused(&r, false, "more than 20 files");
}

static void servers_that_fail_may_be_asked_again(void **unused)
{
	struct fetch_request r = ask("status/500");
	expect_refused(&r, true, "bad response code: 500");
	r = ask("nowhere");
	expect_refused(&r, true, "bad response code: 404");
	r.url = "http://127.0.0.1:1/x";
	expect_refused(&r, true, "127.0.0.1");
	r.url = "file:///etc/passwd";
	expect_refused(&r, false, "file");
	r = ask("silent");
	r.timeout_s = 1;
	expect_refused(&r, true, "took too long");
	web_put("damaged.tar.gz", "no", 2);
	r = ask("damaged.tar.gz");
	expect_refused(&r, false, "cannot be read");
	r = ask("");
	expect_refused(&r, false, "names no file");
}

static void certificates_are_verified(void **unused)
{
	struct made made;
	struct certificate pair;
	char *texts[2];

	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -1000, 1000);
	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(made_path(&made, i ? "server-key.pem" : "server.pem"), "re");
		assert_non_null(file);
		texts[i] = calloc(1, 8000);
		assert_true(fread(texts[i], 1, 7999, file) > 0);
		fclose(file);
	}
	pair = (struct certificate){texts[0], texts[1]};
	web_end();
	web_begin(pair.certificate, pair.key);
	web_put("f", "hello", 5);
	struct fetch_request r = ask("f");
	expect_refused(&r, true, "certificate");
	setenv("SSL_CERT_FILE", made_path(&made, "ca.pem"), 1);
	expect_fetched(&r);
	unsetenv("SSL_CERT_FILE");
	expect_file("t/local/f", "hello", 0644);
	free(texts[0]);
	free(texts[1]);
	made_end(&made);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(a_file_is_put_where_it_belongs),
		ROW(headers_and_queries_reach_the_server),
		ROW(checksums_are_compared),
		ROW(archives_are_unpacked),
		ROW(archives_may_be_left_or_named),
		ROW(one_compressed_file_is_unpacked),
		ROW(links_stay_inside),
		ROW(hostile_archives_are_refused),
		ROW(no_bit_gives_rights),
		ROW(links_in_the_way_are_not_followed),
		ROW(what_is_too_large_is_refused),
		ROW(servers_that_fail_may_be_asked_again),
		ROW(certificates_are_verified),
	};
	setlocale(LC_CTYPE, "C.UTF-8"); // as the program does
	return cmocka_run_group_tests(tests, NULL, NULL);
}
