// Sentences about what is not placed, as lists.
import {m} from "../core/dom.js";
import {whyNot, whyNowhere} from "./why.js";

const list = sentences => m("ul", sentences.map(sentence => m("li", sentence)));

// The failed groups of an evaluation.
export function failuresView(evaluation) {
	const groups = Object.entries(evaluation.FailedTGAllocs ?? {});
	if (groups.length === 0)
		return null;
	return m(".why", {role: "region", "aria-label": "why something is not placed"}, [
		m("h3", "Why something is not placed"),
		groups.map(([name, metrics]) => m("section", [
			m("h4", `Group ${name}`), list(whyNot(metrics, evaluation.QueuedAllocations?.[name] || undefined)),
		])),
	]);
}

// An answer of /v1/berth/explain/….
export function explanationView(explained) {
	const groups = explained.Groups ?? (explained.Group ? [explained.Group] : []);
	return m(".why", {role: "region", "aria-label": "why it runs where it does"}, [
		m("h3", "What keeps it where it is, over all nodes as they are now"),
		list(explained.Sentences),
		groups.map(group => m("section", [m("h4", `Group ${group.Group}`), list(whyNowhere(group))])),
	]);
}
