// Digests and identifiers.
#include "tools/hcl2/functions/functions.h"
#include <glib.h>

static const struct hcl2_value *digest(struct call *call, GChecksumType type)
{
	struct text text = call_text(call, 0);
	char *hex = g_compute_checksum_for_data(type, (const guchar *)text.data, text.size);
	struct text copy = hcl2_copy(call->run, text_of(hex));
	g_free(hex);
	return value_string(call->run, copy);
}

static const struct hcl2_value *fn_md5(struct call *call)
{
	return digest(call, G_CHECKSUM_MD5);
}

static const struct hcl2_value *fn_sha1(struct call *call)
{
	return digest(call, G_CHECKSUM_SHA1);
}

static const struct hcl2_value *fn_sha256(struct call *call)
{
	return digest(call, G_CHECKSUM_SHA256);
}

static const struct hcl2_value *fn_sha512(struct call *call)
{
	return digest(call, G_CHECKSUM_SHA512);
}

static bool parse_uuid(const char *text, uint8_t id[16])
{
	uint32_t digits = 0;
	if (!g_uuid_string_is_valid(text))
		return false;
	for (; *text; text++) {
		int digit = g_ascii_xdigit_value(*text);
		if (digit < 0)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | digit);
		digits++;
	}
	return true;
}

static const struct hcl2_value *print_uuid(struct call *call, const uint8_t id[16])
{
	struct writer w = {.run = call->run};
	for (uint32_t i = 0; i < 16; i++)
		write_string(&w, hcl2_print(call->run, "%s%02x",
					 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]));
	return call_written(call, &w);
}

static const struct hcl2_value *fn_uuidv5(struct call *call)
{
	static const struct {
		const char *name, *id;
	} spaces[] = {{"dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{"url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"},
		{"oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"},
		{"x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"}};
	struct text name = call_text(call, 1);
	const char *space = hcl2_copy(call->run, call_text(call, 0)).data;
	uint8_t id[16] = {0}, sum[20];
	gsize size = sizeof sum;
	for (uint32_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
		if (strcmp(space, spaces[i].name) == 0)
			space = spaces[i].id;
	if (!parse_uuid(space, id))
		return call_failed(call, "there is no namespace %s", space);
	GChecksum *sha1 = g_checksum_new(G_CHECKSUM_SHA1);
	g_checksum_update(sha1, id, sizeof id);
	g_checksum_update(sha1, (const guchar *)name.data, name.size);
	g_checksum_get_digest(sha1, sum, &size);
	g_checksum_free(sha1);
	sum[6] = (uint8_t)((sum[6] & 0x0f) | 0x50);
	sum[8] = (uint8_t)((sum[8] & 0x3f) | 0x80);
	return print_uuid(call, sum);
}

static const struct hcl2_value *fn_uuidv4(struct call *call)
{
	char *id = g_uuid_string_random();
	struct text copy = hcl2_copy(call->run, text_of(id));
	g_free(id);
	return value_string(call->run, copy);
}

static const struct hcl2_value *fn_not_offered(struct call *call)
{
	return call_failed(call, "Berth does not offer it");
}

const struct function digest_functions[] = {
	{"bcrypt", "sn*", fn_not_offered},
	{"md5", "s", fn_md5},
	{"rsadecrypt", "ss", fn_not_offered},
	{"sha1", "s", fn_sha1},
	{"sha256", "s", fn_sha256},
	{"sha512", "s", fn_sha512},
	{"uuidv4", "", fn_uuidv4},
	{"uuidv5", "ss", fn_uuidv5},
	{0},
};
