// What was measured in the last minutes. The page keeps it; the controller keeps none.
import {parse, quantileBetween, sum} from "./exposition.js";

const KEPT_MS = 15 * 60 * 1000;

// Each plot: its lines, as what they are of two looks that follow each other.
const rate = (name, labels) => (before, after, seconds) => {
	const grown = sum(after, name, labels) - sum(before, name, labels);
	return grown >= 0 ? grown / seconds : null; // less than before: another process
};
const level = (name, labels) => (before, after) => sum(after, name, labels);
const quantile = (name, part) => (before, after) => quantileBetween(before, after, name, part);

export const PLOTS = [
	{title: "Heartbeats a second", unit: "count", lines: {accepted: rate("berth_heartbeats_accepted_total")}},
	{title: "Nodes", unit: "count", lines: {
		ready: level("berth_nodes", {status: "ready"}), down: level("berth_nodes", {status: "down"}),
		disconnected: level("berth_nodes", {status: "disconnected"}),
	}},
	{title: "Time until a change is durable", unit: "seconds", lines: {
		median: quantile("berth_journal_commit_seconds", 0.5), "of 99 %": quantile("berth_journal_commit_seconds", 0.99),
	}},
	{title: "Time of a placement request", unit: "seconds", lines: {
		median: quantile("berth_place_seconds", 0.5), "of 99 %": quantile("berth_place_seconds", 0.99),
	}},
	{title: "Decisions a second", unit: "count", lines: {
		"placements": rate("berth_placements_total"), "evaluations": rate("berth_evaluations_processed_total"),
	}},
	{title: "Evaluations that wait", unit: "count", lines: {
		pending: level("berth_evaluations_pending"), blocked: level("berth_evaluations_blocked"),
	}},
	{title: "Living allocations", unit: "count", lines: {
		living: (before, after) => sum(after, "berth_allocations") - sum(after, "berth_allocations_terminal"),
	}},
	{title: "Requests of the HTTP API a second", unit: "count", lines: {answered: rate("berth_http_requests_total")}},
];

export class History {
	constructor() {
		this.last = null;
		this.points = PLOTS.map(() => []); // of each plot: {time, values: {line: value or null}}
	}

	// The text of a look at a time (ms).
	add(text, time) {
		const families = parse(text), before = this.last;
		this.last = {families, time};
		if (!before || time <= before.time)
			return;
		const seconds = (time - before.time) / 1000;
		PLOTS.forEach((plot, i) => {
			const values = {};
			for (const [name, value] of Object.entries(plot.lines))
				values[name] = value(before.families, families, seconds);
			const points = this.points[i];
			points.push({time, values});
			while (points[0].time < time - KEPT_MS)
				points.shift();
		});
	}
}
