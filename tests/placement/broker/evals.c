#include "tests/placement/broker/evals.h"
#include <stdlib.h>
#include <string.h>

static struct uuid numbered(uint8_t kind, uint32_t number)
{
	struct uuid id = {.bytes = {kind}};

	memcpy(&id.bytes[4], &number, sizeof number);
	return id;
}

struct uuid eval_id(uint32_t number)
{
	return numbered(0xe, number);
}

struct uuid eval_node(uint32_t number)
{
	return number ? numbered(0xa, number) : (struct uuid){0};
}

uint32_t eval_number(const struct evaluation *e)
{
	uint32_t number;

	memcpy(&number, &e->id.bytes[4], sizeof number);
	return number;
}

struct evaluation *make_eval(struct eval_ask ask)
{
	struct evaluation *e = evaluation_create();

	e->id = eval_id(ask.number);
	e->namespace_name = strdup(ask.namespace_name ? ask.namespace_name : "default");
	e->job_id = strdup(ask.job ? ask.job : "job");
	e->type = ask.type;
	e->priority = ask.priority ? ask.priority : 50;
	e->record.create_index = ask.create_index ? ask.create_index : ask.number;
	e->record.modify_index = ask.modify_index ? ask.modify_index : e->record.create_index;
	e->node_id = eval_node(ask.node);
	e->snapshot_index = ask.snapshot_index;
	e->status = ask.status;
	e->triggered_by = ask.triggered_by;
	e->wait_ns = ask.wait_ns;
	e->wait_until_ns = ask.wait_until_ns;
	return e;
}

void set_class(struct evaluation *e, const char *computed_class, bool eligible)
{
	struct named_count *c = array_append(&e->class_eligibility, sizeof *c);

	c->name = strdup(computed_class);
	c->count = eligible;
}
