#include "bench/harness/serve.h"
#include "bench/harness/bench.h"

struct served serve(serve_turn *turn, void *context, uint64_t ns)
{
	uint64_t packets = 0, busy = 0, began_ns = bench_ns(), now_ns = began_ns;
	while (now_ns - began_ns < ns) {
		uint64_t turn_began = bench_cycles();
		uint32_t handled = turn(context);
		if (handled > 0)
			busy += bench_cycles() - turn_began;
		packets += handled;
		now_ns = bench_ns();
	}
	return (struct served){.packets = packets,
		.seconds = (double)(now_ns - began_ns) / 1e9,
		.busy_seconds = (double)busy / bench_cycles_per_second()};
}
