// Quotas in the JSON of Nomad's clients.
#pragma once
#include "state/records/namespaces/quota.h"
#include "tools/json/json_writer.h"

void quota_json(struct json_writer *, const struct quota *);
// What is used, by the hash of the limit: clients lay both beside each other.
void quota_usage_json(struct json_writer *, const struct quota *, const struct quota_amount *used);
