// What of a deployment is done, and what may be done about it.
const ACTIVE = ["running", "paused", "pending", "blocked", "unblocking"];

export const isActive = deployment => ACTIVE.includes(deployment.Status);

// What of a group is healthy, unhealthy, and placed without a verdict, in percent of what is wanted; 100 together.
export function progress(group) {
	const wanted = Math.max(1, group.DesiredTotal || group.DesiredCanaries);
	const part = (n, most) => Math.min(most, Math.max(0, n / wanted * 100));
	const healthy = part(group.HealthyAllocs, 100);
	const unhealthy = part(group.UnhealthyAllocs, 100 - healthy);
	const judged = group.HealthyAllocs + group.UnhealthyAllocs;
	return {healthy, unhealthy, placed: part(group.PlacedAllocs - judged, 100 - healthy - unhealthy)};
}

export function canBePromoted(deployment) {
	return isActive(deployment) && Object.values(deployment.TaskGroups).some(group =>
		group.DesiredCanaries > 0 && !group.Promoted);
}
