#include "tools/agent/confine/capabilities.h"
#include "state/base/failpoint/failpoint.h"
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// "all" is what this process may give away: less than the kernel knows, in a container.
static uint64_t all_there_are(void)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i <= CAP_LAST_CAP; i++)
		bits |= prctl(PR_CAPBSET_READ, i) == 1 ? 1ull << i : 0;
	return bits;
}

static bool read_name(const char *name, size_t size, uint64_t *bits)
{
	char full[40];
	cap_value_t value;

	if (size >= 32)
		return false;
	bool has_prefix = size > 4 && strncasecmp(name, "cap_", 4) == 0;
	snprintf(full, sizeof full, "%s%.*s", has_prefix ? "" : "cap_", (int)size, name);
	if (strcasecmp(full, "cap_all") == 0) {
		*bits |= all_there_are();
		return true;
	}
	if (cap_from_name(full, &value) < 0 || value > CAP_LAST_CAP)
		return false;
	*bits |= 1ull << value;
	return true;
}

bool capabilities_read(const char *names, uint64_t *bits, char wrong[static 32])
{
	*bits = 0;
	while (*names) {
		size_t size = strcspn(names, ",");
		if (!read_name(names, size, bits)) {
			snprintf(wrong, 32, "%.*s", (int)(size < 31 ? size : 31), names);
			return false;
		}
		names += size + (names[size] == ',');
	}
	return true;
}

static bool read_list(
	const json_t *list, const char *key, uint64_t *bits, char *message, uint32_t message_size)
{
	const json_t *item;
	size_t i;

	*bits = 0;
	if (list && !json_is_array(list)) {
		snprintf(message, message_size, "%s is a list of names of capabilities", key);
		return false;
	}
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(item);
		if (name && read_name(name, strlen(name), bits))
			continue;
		snprintf(message, message_size, "%s: there is no capability \"%.32s\"", key,
			name ? name : "");
		return false;
	}
	return true;
}

static void name_bits(uint64_t bits, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i <= CAP_LAST_CAP && used < size; i++) {
		char *name = bits & 1ull << i ? cap_to_name(i) : NULL;
		if (name)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s", used ? ", " : "", name + 4);
		cap_free(name);
	}
}

bool capabilities_choose(struct capabilities *c, uint64_t allowed, const json_t *add,
	const json_t *drop, char *message, uint32_t message_size)
{
	uint64_t without, added, dropped;
	char names[120], wrong[32];

	if (!capabilities_read(CAPABILITIES_DEFAULT, &without, wrong) ||
		!read_list(add, "cap_add", &added, message, message_size) ||
		!read_list(drop, "cap_drop", &dropped, message, message_size))
		return false;
	if (added & ~allowed) {
		name_bits(added & ~allowed, names, sizeof names);
		snprintf(message, message_size,
			"driver does not allow the following capabilities: %s", names);
		return false;
	}
	*c = (struct capabilities){
		.bounding = ((without & allowed) & ~dropped) | added, .ambient = added};
	return true;
}

int capabilities_bound(const struct capabilities *c)
{
	for (unsigned i = 0; i <= CAP_LAST_CAP; i++)
		if (!(c->bounding & 1ull << i) && prctl(PR_CAPBSET_READ, i) == 1 &&
			CAN_FAIL(CONFINE_BOUND, prctl(PR_CAPBSET_DROP, i)) < 0)
			return -1;
	return prctl(PR_SET_KEEPCAPS, 1);
}

int capabilities_take(const struct capabilities *c, bool is_root)
{
	uint64_t kept = is_root ? c->bounding : c->ambient;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (unsigned i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(kept >> (32 * i));
		data[i] = (struct __user_cap_data_struct){
			.effective = half, .permitted = half, .inheritable = is_root ? 0 : half};
	}
	if (CAN_FAIL(CONFINE_RIGHTS, syscall(SYS_capset, &header, data)) < 0 ||
		prctl(PR_SET_KEEPCAPS, 0) < 0)
		return -1;
	for (unsigned long i = 0; i <= CAP_LAST_CAP && !is_root; i++)
		if ((kept & 1ull << i) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) < 0)
			return -1;
	return 0;
}
