// Functions of networks in address/prefix form.
#include "tools/hcl2/functions/functions.h"
#include <arpa/inet.h>
#include <stdlib.h>

typedef unsigned __int128 address;

struct network {
	address first;
	uint32_t prefix, bits; // of the address: 32 or 128
};

static address address_of(const uint8_t *bytes, uint32_t bits)
{
	address number = 0;
	for (uint32_t i = 0; i < bits / 8; i++)
		number = number << 8 | bytes[i];
	return number;
}

static const char *address_text(struct hcl2_run *run, address number, uint32_t bits)
{
	uint8_t bytes[16];
	char *text = hcl2_take(run, INET6_ADDRSTRLEN);
	for (uint32_t i = bits / 8; i > 0; i--, number >>= 8)
		bytes[i - 1] = (uint8_t)number;
	inet_ntop(bits == 32 ? AF_INET : AF_INET6, bytes, text, INET6_ADDRSTRLEN);
	return text;
}

static address host_mask(uint32_t host_bits)
{
	return host_bits >= 128 ? ~(address)0 : ((address)1 << host_bits) - 1;
}

static bool read_network(struct call *call, struct network *network, int blame)
{
	const char *text = hcl2_copy(call->run, call_text(call, 0)).data;
	const char *slash = strchr(text, '/');
	char *end = NULL;
	uint8_t bytes[16];
	bool six = strchr(text, ':') != NULL;
	network->bits = six ? 128 : 32;
	if (slash && slash[1] >= '0' && slash[1] <= '9') {
		unsigned long prefix = strtoul(slash + 1, &end, 10);
		char *host = hcl2_print(call->run, "%.*s", (int)(slash - text), text);
		if (!*end && prefix <= network->bits &&
			inet_pton(six ? AF_INET6 : AF_INET, host, bytes) == 1) {
			network->prefix = (uint32_t)prefix;
			network->first = address_of(bytes, network->bits) &
					 ~host_mask(network->bits - network->prefix);
			return true;
		}
	}
	call_failed(call, "%.60s is no network like 10.0.0.0/8", text);
	call->wrong = blame;
	return false;
}

static const struct hcl2_value *network_value(struct call *call, const struct network *network)
{
	return value_of_string(call->run,
		hcl2_print(call->run, "%s/%u",
			address_text(call->run, network->first, network->bits), network->prefix));
}

static const struct hcl2_value *fn_cidrhost(struct call *call)
{
	struct network network;
	int64_t number;
	if (!call_int(call, 1, INT64_MIN + 1, INT64_MAX, &number) ||
		!read_network(call, &network, -1))
		return NULL;
	uint32_t host_bits = network.bits - network.prefix;
	address host = (address)(number < 0 ? -number - 1 : number);
	if (host > host_mask(host_bits))
		return call_failed(call, "a prefix of %u bits has no host %lld", network.prefix,
			(long long)number);
	if (number < 0)
		host = host_mask(host_bits) - host;
	return value_of_string(
		call->run, address_text(call->run, network.first | host, network.bits));
}

static const struct hcl2_value *fn_cidrnetmask(struct call *call)
{
	struct network network;
	if (!read_network(call, &network, -1))
		return NULL;
	address mask = ~host_mask(network.bits - network.prefix);
	if (network.bits == 32)
		mask &= UINT32_MAX;
	return value_of_string(call->run, address_text(call->run, mask, network.bits));
}

static const struct hcl2_value *fn_cidrsubnet(struct call *call)
{
	struct network network;
	int64_t more, number;
	if (!call_int(call, 1, 0, 32, &more) ||
		!call_int(call, 2, INT64_MIN + 1, INT64_MAX, &number) ||
		!read_network(call, &network, -1))
		return NULL;
	if (network.prefix + more > network.bits)
		return call_failed(call, "there are not that many bits left");
	if (number < 0)
		number += (int64_t)1 << more;
	if (number < 0 || (address)number > host_mask((uint32_t)more))
		return call_failed(call, "%lld bits do not hold that number", (long long)more);
	network.prefix += (uint32_t)more;
	if (network.prefix)
		network.first |= (address)number << (network.bits - network.prefix);
	return network_value(call, &network);
}

static const struct hcl2_value *fn_cidrsubnets(struct call *call)
{
	struct network whole;
	if (!read_network(call, &whole, 0))
		return NULL;
	const struct hcl2_value **items = hcl2_take(call->run, call->count * sizeof *items);
	address used = 0, room = host_mask(whole.bits - whole.prefix);
	bool full = false;
	for (uint32_t i = 1; i < call->count; i++) {
		int64_t more;
		if (!hcl2_number_is_int(call->arguments[i], 1, 32, &more) ||
			whole.prefix + more > whole.bits)
			return call_wrong(call, (int)i, "a prefix cannot be extended so");
		struct network next = {.bits = whole.bits, .prefix = whole.prefix + (uint32_t)more};
		address size = host_mask(next.bits - next.prefix);
		address from = (used + size) & ~size;
		if (full || from < used || from > room)
			return call_wrong(call, (int)i, "there is not enough room left");
		next.first = whole.first + from;
		used = from + size + 1;
		full = used == 0 || used > room;
		items[i - 1] = network_value(call, &next);
	}
	return call_strings(call, items, call->count - 1);
}

const struct function network_functions[] = {
	{"cidrhost", "sn", fn_cidrhost},
	{"cidrnetmask", "s", fn_cidrnetmask},
	{"cidrsubnet", "snn", fn_cidrsubnet},
	{"cidrsubnets", "sn*", fn_cidrsubnets},
	{0},
};
