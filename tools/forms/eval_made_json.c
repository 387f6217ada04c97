#include "tools/forms/eval_made_json.h"
#include "state/records/evaluation.h"

void eval_made_json(struct json_writer *w, const struct eval_made *made)
{
	json_put_uuid(w, "EvalID", &made->id);
	json_put_u64(w, "EvalCreateIndex", made->index);
}

// The evaluations of one command have consecutive indexes.
void evals_made_json(struct json_writer *w, const struct state *state, const struct eval_made *made)
{
	const struct evaluation *e;
	uint64_t cursor = made->index;
	json_write_key(w, "EvalIDs");
	if (!made->count) {
		json_write_null(w);
		json_put_u64(w, "EvalCreateIndex", 0);
		return;
	}
	json_begin_array(w);
	json_write_uuid(w, &made->id);
	state_read_begin();
	for (uint32_t i = 0; i < made->count && (e = state_next(state, STATE_EVALUATIONS, &cursor));
		i++) {
		if (e->record.create_index >= made->index + made->count)
			break;
		if (!uuid_equal(&e->id, &made->id))
			json_write_uuid(w, &e->id);
	}
	state_read_end();
	json_end_array(w);
	json_put_u64(w, "EvalCreateIndex", made->index);
}

void write_meta_json(struct json_writer *w, uint64_t index)
{
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", false);
	json_put_string(w, "NextToken", "");
}

void read_meta_json(struct json_writer *w, uint64_t index)
{
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", true);
	json_put_string(w, "NextToken", "");
}
