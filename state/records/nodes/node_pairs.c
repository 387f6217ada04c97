#include "state/records/nodes/node_pairs.h"
#include "state/base/number_ranges.h"

#define PORT_MOST 65535u
#define CORE_MOST 65535u

static struct text part(struct text text, uint32_t from, uint32_t to)
{
	return (struct text){text.data + from, to - from};
}

// Divides at the first separator; false when there is none.
static bool text_divide(struct text text, char separator, struct text *left, struct text *right)
{
	const char *at = text.size ? memchr(text.data, separator, text.size) : NULL;

	if (!at)
		return false;
	*left = part(text, 0, (uint32_t)(at - text.data));
	*right = part(text, left->size + 1, text.size);
	return true;
}

bool volume_pair_read(const struct node_pair *pair, struct volume_pair *volume)
{
	struct text access;

	volume->name = pair->name;
	if (!text_divide(pair->value, ' ', &access, &volume->path) || volume->path.size == 0)
		return false;
	volume->read_only = text_equal(access, TEXT("ro"));
	return volume->read_only || text_equal(access, TEXT("rw"));
}

bool network_pair_read(const struct node_pair *pair, struct network_pair *network)
{
	network->speed_mbits = 0;
	return text_divide(pair->name, ':', &network->mode, &network->device) &&
	       network->mode.size > 0 &&
	       (pair->value.size == 0 ||
		       number_read(pair->value, UINT32_MAX, &network->speed_mbits));
}

bool address_pair_read(const struct node_pair *pair, struct address_pair *address)
{
	address->reserved_ports = TEXT("");
	if (!text_divide(pair->name, ' ', &address->network, &address->address) ||
		address->address.size == 0)
		return false;
	if (!text_divide(pair->value, ' ', &address->alias, &address->reserved_ports))
		address->alias = pair->value;
	return number_ranges_are_sound(address->reserved_ports, PORT_MOST);
}

bool port_range_read(struct text text, uint16_t *least, uint16_t *most)
{
	struct number_range range;
	struct text rest = text;

	if (!number_ranges_next(&rest, PORT_MOST, &range) || rest.size > 0)
		return false;
	*least = (uint16_t)range.least;
	*most = (uint16_t)range.most;
	return true;
}

static bool starts_with(struct text text, uint32_t at, struct text start)
{
	return text.size - at > start.size &&
	       (start.size == 0 || memcmp(text.data + at, start.data, start.size) == 0) &&
	       text.data[at + start.size] == '/';
}

int device_pair_group(
	const struct node_registration *d, const struct node_pair *pair, struct text *attribute)
{
	uint32_t longest = 0;
	int found = -1;

	for (uint32_t i = 0; i < d->device_group_count; i++) {
		const struct node_device_group *group = &d->device_groups[i];
		const struct text parts[] = {group->vendor, group->type, group->name};
		uint32_t at = 0, known = 0;
		while (known < 3 && at <= pair->name.size &&
			starts_with(pair->name, at, parts[known]))
			at += parts[known++].size + 1;
		if (known == 3 && at > longest && at < pair->name.size) {
			longest = at;
			found = (int)i;
		}
	}
	if (found >= 0)
		*attribute = part(pair->name, longest, pair->name.size);
	return found;
}

struct text setting_of(const struct node_registration *d, struct text name)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == PAIR_SETTING && text_equal(d->pairs[i].name, name))
			return d->pairs[i].value;
	return TEXT("");
}

// 0: the text is no boot.
static uint64_t boot_read(struct text text)
{
	uint64_t boot = 0;

	if (text.size > 16)
		return 0;
	for (uint32_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return 0;
		boot = boot << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return boot;
}

uint64_t boot_of(const struct node_registration *d)
{
	return boot_read(setting_of(d, TEXT("boot.id")));
}

static bool has_network(const struct node_registration *d, struct text name)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (d->pairs[i].kind == PAIR_NETWORK && text_equal(d->pairs[i].name, name))
			return true;
	return false;
}

static bool setting_is_sound(const struct node_pair *pair)
{
	uint16_t least, most;

	if (setting_is_of_worker(pair->name))
		return true; // node_worker.h judges it
	if (text_equal(pair->name, TEXT("ports.reserved")))
		return number_ranges_are_sound(pair->value, PORT_MOST);
	if (text_equal(pair->name, TEXT("ports.dynamic")))
		return port_range_read(pair->value, &least, &most);
	if (text_equal(pair->name, TEXT("boot.id")))
		return boot_read(pair->value) != 0;
	return text_equal(pair->name, TEXT("cores.reservable")) &&
	       number_ranges_are_sound(pair->value, CORE_MOST);
}

static bool pair_is_sound(const struct node_registration *d, const struct node_pair *pair)
{
	struct volume_pair volume;
	struct network_pair network;
	struct address_pair address;
	struct text attribute;

	switch ((enum pair_kind)pair->kind) {
	case PAIR_ATTRIBUTE:
	case PAIR_META:
	case PAIR_DRIVER: return true;
	case PAIR_VOLUME: return volume_pair_read(pair, &volume);
	case PAIR_NETWORK: return network_pair_read(pair, &network);
	case PAIR_ADDRESS:
		return address_pair_read(pair, &address) && has_network(d, address.network);
	case PAIR_SETTING: return setting_is_sound(pair);
	case PAIR_DEVICE: return device_pair_group(d, pair, &attribute) >= 0;
	case PAIR_KINDS: break;
	}
	return false;
}

bool node_pairs_are_sound(const struct node_registration *d)
{
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (!pair_is_sound(d, &d->pairs[i]))
			return false;
	return true;
}

static bool mode_is_known(struct text mode)
{
	return text_equal(mode, TEXT("host")) || text_equal(mode, TEXT("bridge")) ||
	       (mode.size > 4 && memcmp(mode.data, "cni/", 4) == 0);
}

static bool offer_is_sound(const struct node_pair *pair)
{
	struct network_pair network;
	struct address_pair address;

	switch ((enum pair_kind)pair->kind) {
	case PAIR_DRIVER:
		return text_equal(pair->value, TEXT("1")) || text_equal(pair->value, TEXT("0"));
	case PAIR_NETWORK: return network_pair_read(pair, &network) && mode_is_known(network.mode);
	case PAIR_ADDRESS:
		return address_pair_read(pair, &address) && text_is_ip_address(address.address) &&
		       address.alias.size > 0;
	case PAIR_SETTING:
		return !text_equal(pair->name, TEXT("ports.dynamic")) ||
		       memchr(pair->value.data, '-', pair->value.size) != NULL;
	case PAIR_ATTRIBUTE:
	case PAIR_META:
	case PAIR_VOLUME:
	case PAIR_DEVICE:
	case PAIR_KINDS: break;
	}
	return true;
}

bool node_offers_are_sound(const struct node_registration *d)
{
	for (uint32_t i = 0; i < d->device_group_count; i++)
		if (d->device_groups[i].instances == 0)
			return false;
	for (uint32_t i = 0; i < d->pair_count; i++)
		if (!offer_is_sound(&d->pairs[i]))
			return false;
	return true;
}
