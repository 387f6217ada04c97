// What a daemon takes over while it runs: SIGHUP has it read its configuration and the files that this names anew.
#pragma once
#include "tools/berthd/daemon.h"

// Takes over what can change and says in the log what cannot: log, peers, master keys; the files of TLS and the audit
// log are opened anew. What is wrong is told, and is as it was. Main thread.
void berthd_reload(struct berthd *);
