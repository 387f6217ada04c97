// What the controller learns of the node's probe. The agent asks the probe when the controller wants to know, and
// after every end of an allocation here: the report of the end waits for the answer and says whether the node is
// ready. A node that was not ready is announced again once it is.
#pragma once
#include "dataplane/wire/wire.h"
#include "tools/agent/runner.h"
#include "tools/agent/task/probe.h"

struct readiness {
	struct probe probe;
	struct runner *runner;
	bool is_wanted;  // by the controller's newest answer
	bool is_held;    // a report waits for it
	bool is_unready; // a report said so
	bool has_news;   // the newest answer of the probe is to be told
	bool is_on_way;  // and is on its way
};

void readiness_open(struct readiness *, struct runner *, const struct probe_settings *);
void readiness_close(struct readiness *);
// A heartbeat was answered with these directives.
void readiness_heard(struct readiness *, uint32_t directives, uint64_t now_ns);
// After runner_step(). True: the node is to be announced again.
bool readiness_step(struct readiness *, uint64_t now_ns);
// When to step it again if nothing happens before.
static inline uint64_t readiness_due_ns(const struct readiness *r)
{
	return probe_due_ns(&r->probe);
}
// What is to be sent now.
struct wire_readiness readiness_tell(struct readiness *);
// The controller has taken the readiness that was sent.
void readiness_told(struct readiness *);
