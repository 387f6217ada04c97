// berth quota: shows, describes and takes away what limits namespaces.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/spec_file.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

#define FOLDER "/v1/quota"
#define STANDARD_FILE "spec.hcl"
static const char list_path[] = "/v1/quotas";

static const struct spec_name device_names[] = {
	{"name", "Name"},
	{"count", "Count"},
	{NULL},
};
static const struct spec_name region_limit_names[] = {
	{"cpu", "CPU"},
	{"memory", "MemoryMB"},
	{"instances", "Instances"},
	{"device", "Devices", device_names, true, "Name"},
	{NULL},
};
static const struct spec_name limit_names[] = {
	{"region", "Region"},
	{"region_limit", "RegionLimit", region_limit_names},
	{NULL},
};
static const struct spec_name names[] = {
	{"name", "Name"},
	{"description", "Description"},
	{"limit", "Limits", limit_names, true},
	{NULL},
};

static const char example[] =
	"name        = \"default-quota\"\n"
	"description = \"Limit the shared default namespace\"\n"
	"\n"
	"# 0, or what is not said, is without a limit; less than 0 is nothing.\n"
	"limit {\n"
	"  region = \"global\"\n"
	"  region_limit {\n"
	"    cpu       = 2500 # MHz\n"
	"    memory    = 1000 # MiB\n"
	"    instances = 50\n"
	"    device \"nvidia/gpu\" {\n"
	"      count = 1\n"
	"    }\n"
	"  }\n"
	"}\n";

enum exit_status quota_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_quotas, list_path);
}

static void add_used(struct table *t, json_t *used, json_t *limits, const char *member)
{
	char text[64];
	long limit = (long)field_number(limits, member), of = (long)field_number(used, member);
	if (limit)
		snprintf(text, sizeof text, "%ld / %ld", of, limit < 0 ? 0 : limit);
	else
		snprintf(text, sizeof text, "%ld / inf", of);
	table_add(t, text);
}

static json_t *region_limit(json_t *limit)
{
	return json_object_get(limit, "RegionLimit");
}

static void put_limits(json_t *quota, json_t *usage)
{
	static const char *const headings[] = {
		"Region", "CPU Usage", "Memory Usage", "Instances", NULL};
	struct table t;
	size_t i;
	json_t *limit;
	table_begin(&t, headings);
	json_array_foreach(json_object_get(quota, "Limits"), i, limit)
	{
		json_t *used = region_limit(
			json_object_get(json_object_get(usage, "Used"), field_text(limit, "Hash")));
		table_add(&t, field_or_dash(limit, "Region"));
		add_used(&t, used, region_limit(limit), "CPU");
		add_used(&t, used, region_limit(limit), "MemoryMB");
		add_used(&t, used, region_limit(limit), "Instances");
	}
	table_print(&t, 0);
}

static void put_devices(json_t *quota, json_t *usage)
{
	size_t i, k;
	json_t *limit, *device;
	json_array_foreach(json_object_get(quota, "Limits"), i, limit)
	{
		json_t *used = region_limit(
			json_object_get(json_object_get(usage, "Used"), field_text(limit, "Hash")));
		json_array_foreach(json_object_get(region_limit(limit), "Devices"), k,
			device) printf("Device %s: %ld / %ld\n", field_text(device, "Name"),
			(long)field_number(
				json_array_get(json_object_get(used, "Devices"), k), "Count"),
			(long)field_number(device, "Count"));
	}
}

static void put_status(json_t *quota, json_t *usage)
{
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(quota, "Name"));
	table_pair(&t, "Description", "= %s", field_or_dash(quota, "Description"));
	table_pair(&t, "Limits", "= %zu", json_array_size(json_object_get(quota, "Limits")));
	table_print(&t, 0);
	printf("\nQuota Limits\n");
	put_limits(quota, usage);
	put_devices(quota, usage);
}

enum exit_status quota_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *quota = NULL, *usage = NULL;
	enum exit_status result =
		http_get_json(session, name_path(FOLDER, arguments[0], "", path), &quota);
	if (result == STATUS_OK)
		result = http_get_json(
			session, name_path(FOLDER "/usage", arguments[0], "", path), &usage);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(quota);
	else if (result == STATUS_OK)
		put_status(quota, usage);
	json_decref(usage);
	json_decref(quota);
	return result;
}

enum exit_status quota_inspect(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *quota = NULL, *usage = NULL, *both;
	enum exit_status result =
		http_get_json(session, name_path(FOLDER, arguments[0], "", path), &quota);
	if (result == STATUS_OK)
		result = http_get_json(
			session, name_path(FOLDER "/usage", arguments[0], "", path), &usage);
	if (result == STATUS_OK &&
		(both = json_pack("{s:O,s:O}", "Spec", quota, "Usages", usage))) {
		field_print(both);
		json_decref(both);
	}
	json_decref(usage);
	json_decref(quota);
	return result;
}

enum exit_status quota_apply(struct session *session, const char **arguments, int count)
{
	json_t *quota, *reply = NULL;
	enum exit_status result = spec_file_read(arguments[0], names, &quota);
	if (result != STATUS_OK)
		return result;
	result = http_put_json(session, FOLDER, quota, &reply);
	if (result == STATUS_OK)
		printf("Quota \"%s\" is described\n", field_text(quota, "Name"));
	json_decref(reply);
	json_decref(quota);
	return result;
}

enum exit_status quota_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path(FOLDER, arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("Quota \"%s\" is deleted\n", arguments[0]);
	return result;
}

// Never over a file that is there.
enum exit_status quota_init(struct session *session, const char **arguments, int count)
{
	const char *path = count ? arguments[0] : STANDARD_FILE;
	enum exit_status result = file_write_new(path, example);
	if (result == STATUS_OK)
		printf("An example of a quota is in %s\n", path);
	return result;
}
