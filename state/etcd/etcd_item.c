#include "state/etcd/etcd_item.h"

uint32_t etcd_item_read(struct etcd_json *j, struct etcd_item *item)
{
	struct text name;
	uint32_t key_size = 0;
	*item = (struct etcd_item){.key = "", .value = ""};
	etcd_json_enter(j, '{');
	while (etcd_json_member(j, &name)) {
		if (etcd_json_is(name, "key"))
			item->key = etcd_json_bytes(j, &key_size);
		else if (etcd_json_is(name, "value"))
			item->value = etcd_json_bytes(j, &item->size);
		else if (etcd_json_is(name, "create_revision"))
			item->created = etcd_json_u64(j);
		else if (etcd_json_is(name, "mod_revision"))
			item->changed = etcd_json_u64(j);
		else if (etcd_json_is(name, "lease"))
			item->lease = etcd_json_i64(j);
		else
			etcd_json_skip(j);
	}
	return key_size;
}
