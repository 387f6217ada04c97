// Why an evaluation placed less than it was to: what it counted, in sentences.
import {count, plural} from "../core/words.js";

const entries = map => Object.entries(map ?? {}).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));

const areOrIs = (n, words) => `${plural(n, "node")} ${n === 1 ? words[0] : words[1]}`;

// Nomad's words for what a node lacks, and a person's.
const DIMENSIONS = {cpu: "CPU", memory: "memory", disk: "disk", cores: "cores", devices: "devices"};

// Of one group's metrics. missing: instances that were not placed.
export function whyNot(metrics, missing = (metrics.CoalescedFailures ?? 0) + 1) {
	const sentences = [`${plural(missing, "instance")} could not be placed.`];
	const available = entries(metrics.NodesAvailable);
	const nodes = available.reduce((sum, [, n]) => sum + n, 0);
	if (available.length > 0 && nodes === 0)
		sentences.push("No node that takes work is in the datacenters of the job: " +
			`${available.map(([name]) => name).join(", ")}.`);
	else if (nodes > 0)
		sentences.push(`${areOrIs(nodes, ["is", "are"])} in its datacenters and pool and ` +
			`${nodes === 1 ? "takes" : "take"} work; ${count(metrics.NodesEvaluated)} of them ` +
			`${metrics.NodesEvaluated === 1 ? "was" : "were"} looked at.`);
	if (nodes === 0 && available.length === 0 && metrics.NodesEvaluated === 0)
		sentences.push("No node was there to look at.");
	sentences.push(...whyFiltered(metrics), ...whyExhausted(metrics));
	return sentences;
}

// " (2 of class “old”, 1 of class “gpu”)"
function ofClasses(classes) {
	const words = entries(classes).map(([name, n]) => `${count(n)} of class “${name}”`);
	return words.length > 0 ? ` (${words.join(", ")})` : "";
}

// What the schedulers say of nodes whose class was looked at with another node.
const KNOWN_CLASS = "computed class ineligible";

function whyFiltered({NodesFiltered, ConstraintFiltered, ClassFiltered}) {
	if (!NodesFiltered)
		return [];
	return [
		`${plural(NodesFiltered, "node")} may not run it at all${ofClasses(ClassFiltered)}.`,
		...entries(ConstraintFiltered).map(([constraint, n]) => constraint === KNOWN_CLASS
			? `${areOrIs(n, ["is", "are"])} just like a node that was found unfit before.`
			: `${areOrIs(n, ["does", "do"])} not meet “${constraint}”.`),
	];
}

function whyExhausted({NodesExhausted, DimensionExhausted, ClassExhausted, QuotaExhausted}) {
	const sentences = [];
	if (NodesExhausted)
		sentences.push(`${areOrIs(NodesExhausted, ["has", "have"])} too little room left${ofClasses(ClassExhausted)}.`);
	for (const [dimension, n] of entries(DimensionExhausted))
		sentences.push(`${areOrIs(n, ["lacks", "lack"])} ${DIMENSIONS[dimension] ?? dimension}.`);
	for (const dimension of QuotaExhausted ?? [])
		sentences.push(`The quota of its namespace has no room left: ${dimension}.`);
	return sentences;
}

// Of what /v1/berth/explain/job/:id says of a group.
export function whyNowhere(group) {
	const sentences = [`Of ${plural(group.Nodes, "node")}, ${count(group.NodesRunning)} ` +
		`${group.NodesRunning === 1 ? "runs" : "run"} it and ${count(group.NodesFitting)} could take one more now.`];
	for (const {Kind, Reason, Nodes, Nearest} of group.Reasons) {
		const near = Nearest ? ` (nearest: ${Nearest.NodeName}, which lacks ${count(Nearest.Lack)} ${Nearest.Unit})` : "";
		sentences.push(`${REASONS[Kind] ?? Kind} ${plural(Nodes, "node")}: ${Reason}${near}.`);
	}
	return sentences;
}

const REASONS = {node: "Takes nothing new,", filtered: "May not run it,", exhausted: "Too little left,"};
