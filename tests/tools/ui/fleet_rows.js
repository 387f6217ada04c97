// Answers of /v1/berth/fleet, as tests put them together.
export const row = (slot, more = {}) => [
	slot, more.id ?? `0000000${slot}`, more.name ?? `node-${slot}`, more.datacenter ?? "dc1", more.nodeClass ?? "",
	more.pool ?? "default", more.status ?? "ready", more.isEligible ?? true, more.isDraining ?? false,
	more.cpu ?? 1000, more.cpuUsed ?? 0, more.memory ?? 2048, more.memoryUsed ?? 0, more.allocations ?? 0,
];

export const whole = rows => ({Since: "a-1", Whole: true, Nodes: rows});
export const changes = rows => ({Since: "a-2", Whole: false, Nodes: rows});
