#include "tools/agent/check/check_state.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

// It may hold any bytes, and may be cut within a character; lines stay lines.
static void keep_output(struct check_state *s, const char *output)
{
	free(s->output);
	s->output = text_copy(text_of(output));
	for (char *at = s->output; *at;) {
		uint32_t bytes = text_utf8_bytes(text_of(at));
		bool is_kept = bytes > 1 || (bytes == 1 && (*at >= ' ' || strchr("\n\r\t", *at)));
		if (!is_kept)
			*at = '?';
		at += is_kept ? bytes : 1;
	}
}

static bool is_well(enum check_status status, enum check_effect effect)
{
	return status == CHECK_PASSING || (status == CHECK_WARNING && effect == CHECK_MAY_WARN);
}

static void set_status(struct check_state *s, const struct check_rule *rule,
	enum check_status status, int64_t now_ns)
{
	s->status = status;
	if (!is_well(status, rule->effect))
		s->well_ns = 0;
	else if (!s->well_ns)
		s->well_ns = now_ns;
}

void check_state_begin(struct check_state *s, const struct check_rule *rule, int64_t now_ns)
{
	free(s->output);
	*s = (struct check_state){.due_ns = now_ns,
		.grace_until_ns = now_ns + rule->restart_grace_ns,
		.told_ns = now_ns};
	keep_output(s, rule->wrong ? rule->wrong : "nomad: waiting to run");
	set_status(s, rule, rule->wrong ? CHECK_CRITICAL : rule->initial_status, now_ns);
}

void check_state_end(struct check_state *s)
{
	free(s->output);
	s->output = NULL;
}

static bool asks_for_restart(struct check_state *s, const struct check_rule *rule, int64_t now_ns)
{
	bool is_bad = s->status == CHECK_CRITICAL ||
		      (s->status == CHECK_WARNING && !rule->restart_ignores_warnings);
	if (!is_bad || !rule->restart_limit) {
		s->bad_ns = 0;
		return false;
	}
	if (now_ns < s->grace_until_ns)
		return false;
	if (!s->bad_ns)
		s->bad_ns = now_ns;
	return now_ns >= s->bad_ns + (int64_t)(rule->restart_limit - 1) * rule->interval_ns;
}

bool check_state_take(struct check_state *s, const struct check_rule *rule,
	const struct check_answer *answer, int64_t now_ns)
{
	bool is_good = answer->status == CHECK_PASSING;
	s->successes = is_good ? s->successes + 1 : 0;
	s->failures = is_good ? 0 : s->failures + 1;
	s->told_ns = now_ns;
	s->http_code = answer->http_code;
	keep_output(s, answer->output);
	if (is_good ? s->successes >= rule->successes_to_pass
		    : s->failures >= rule->failures_to_fail)
		set_status(s, rule, answer->status, now_ns);
	return asks_for_restart(s, rule, now_ns);
}
