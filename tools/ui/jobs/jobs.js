// The jobs, the newest first.
import {badge, link, m, redraw, table, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {Watch} from "../core/watch.js";
import {count, plural} from "../core/words.js";

const SHOWN = 200;

const sum = (job, what) => Object.values(job.JobSummary?.Summary ?? {}).reduce((all, group) => all + (group[what] ?? 0), 0);

// One of a job's numbers; a worrying one stands out.
const number = (job, what) => {
	const n = sum(job, what);
	return n > 0 && ["Failed", "Lost", "Queued"].includes(what) ? m("strong", count(n)) : count(n);
};

export class JobsPage {
	constructor() {
		this.title = "Jobs";
		this.prefix = "";
		this.watch = new Watch(
			() => `/v1/jobs?namespace=*&reverse=true&per_page=${SHOWN}&prefix=${encodeURIComponent(this.prefix)}`,
			data => this.jobs = data);
	}

	close() {
		this.watch.stop();
	}

	search(prefix) {
		this.prefix = prefix;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.watch.again(), 200);
		redraw();
	}

	view() {
		return unless(this.watch, "Jobs", "read-job or list-jobs in a namespace", () => [
			m("h2", "Jobs"),
			m(".controls", [
				m("label", ["id begins with ", m("input#prefix[type=search]", {
					value: this.prefix, oninput: e => this.search(e.target.value),
				})]),
				this.jobs.length === SHOWN && m("span.hint", `the newest ${plural(SHOWN, "job")}; the prefix finds others`),
			]),
			table("Jobs", [
				["job", job => link(href("job", job.Namespace, job.ID), job.ID)],
				["namespace", job => job.Namespace],
				["type", job => job.Type + (job.Periodic ? " periodic" : "") + (job.ParameterizedJob ? " parameterized" : "")],
				["status", job => badge(job.Stop ? "stopped" : job.Status)],
				["running", job => number(job, "Running"), {numeric: true}],
				["starting", job => number(job, "Starting"), {numeric: true}],
				["not placed", job => number(job, "Queued"), {numeric: true}],
				["complete", job => number(job, "Complete"), {numeric: true}],
				["failed", job => number(job, "Failed"), {numeric: true}],
				["lost", job => number(job, "Lost"), {numeric: true}],
			], this.jobs, job => `${job.Namespace}/${job.ID}`, this.prefix ? "none begins so" : "none is registered"),
		]);
	}
}
