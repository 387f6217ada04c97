#include "tools/api/eval_made.h"

void eval_made_json(struct json_writer *w, const struct eval_made *made)
{
	json_put_uuid(w, "EvalID", &made->id);
	json_put_u64(w, "EvalCreateIndex", made->index);
}

void evals_made_json(struct json_writer *w, const struct eval_made *made)
{
	json_write_key(w, "EvalIDs");
	if (made->count) {
		json_begin_array(w);
		json_write_uuid(w, &made->id);
		json_end_array(w);
	} else {
		json_write_null(w);
	}
	json_put_u64(w, "EvalCreateIndex", made->index);
}

void write_meta_json(struct json_writer *w, uint64_t index)
{
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", false);
}
