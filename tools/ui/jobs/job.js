// One job: how far it is, where it runs, what was decided about it, and why something of it is not placed.
import {change, path, read} from "../core/api.js";
import {action, badge, facts, link, m, redraw, table, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {Watch} from "../core/watch.js";
import {ago, count, shortId} from "../core/words.js";
import {deploymentView} from "./deployment_view.js";
import {explanationView, failuresView} from "./why_view.js";

const SHOWN = 200;
const LIVING = {pending: 0, running: 1, unknown: 2};

// Those that live first, then the newest.
function byLife(a, b) {
	return (LIVING[a.ClientStatus] ?? 3) - (LIVING[b.ClientStatus] ?? 3) || b.CreateIndex - a.CreateIndex;
}

// The newest evaluation that still waits for room says what is missing now.
export function blockedOf(evaluations) {
	return evaluations.filter(e => e.Status === "blocked").sort((a, b) => b.CreateIndex - a.CreateIndex)[0] ?? null;
}

export class JobPage {
	constructor([namespace, id]) {
		this.namespace = namespace;
		this.id = id;
		this.title = `Job ${id}`;
		this.evaluations = this.deployments = [];
		// What runs, and what was decided, which changes without the other. A deployment's turns make evaluations.
		this.watch = new Watch(this.of("/summary"), async (summary, signal) => {
			const [job, allocations] = await Promise.all([
				this.get("", "", signal), this.get("/allocations", `&reverse=true&per_page=${SHOWN}`, signal),
			]);
			Object.assign(this, {summary, job, allocations: allocations.sort(byLife)});
		});
		this.decisions = new Watch(this.of("/evaluations", `&reverse=true&per_page=${SHOWN}`), async (evaluations, signal) => {
			this.deployments = await this.get("/deployments", "", signal);
			this.evaluations = evaluations;
		});
	}

	of(what, parameters = "") {
		return path`/v1/job/${this.id}` + what + path`?namespace=${this.namespace}` + parameters;
	}

	async get(what, parameters, signal) {
		return (await read(this.of(what, parameters), {signal})).data;
	}

	again() {
		this.watch.again();
		this.decisions.again();
	}

	close() {
		this.watch.stop();
		this.decisions.stop();
	}

	view() {
		return unless(this.watch, `Job ${this.id}`, "read-job in its namespace", () => [
			m("h2", [this.id, " ", badge(this.job.Stop ? "stopped" : this.job.Status)]),
			this.about(), this.actions(),
			this.blocked() && failuresView(this.blocked()),
			this.explained && explanationView(this.explained),
			this.deployments.length > 0 && m(".deployments", [deploymentView(this.deployments[0], () => this.again())]),
			this.groups(), this.allocationsView(), this.evaluationsView(), this.versionsView(),
		]);
	}

	blocked() {
		return blockedOf(this.evaluations);
	}

	about() {
		const {Type, Priority, Version, Namespace, NodePool, Datacenters, SubmitTime} = this.job;
		return facts([
			["type", Type], ["priority", Priority], ["version", Version], ["namespace", Namespace],
			["pool", NodePool], ["datacenters", (Datacenters ?? []).join(", ")], ["submitted", ago(SubmitTime)],
		]);
	}

	actions() {
		return m(".actions", [
			action("Explain", async () => {
				this.explained = (await read(path`/v1/berth/explain/job/${this.id}?namespace=${this.namespace}`)).data;
				redraw();
			}, {class: "explain", title: "looks at every node for every group"}),
			action("Evaluate", () => change("PUT", this.of("/evaluate"),
				{JobID: this.id, Namespace: this.namespace, EvalOptions: {}}).then(() => this.again())),
			!this.job.Stop && this.stopView(),
		]);
	}

	// Asked twice, as everything of the job ends.
	stopView() {
		if (!this.isSure)
			return m("button", {type: "button", class: "stop", onclick: () => {
				this.isSure = true;
				redraw();
			}}, "Stop");
		return [
			action("Stop it: all its instances end", () => change("DELETE", this.of("")).then(() => this.again()),
				{class: "stop sure"}),
			m("button", {type: "button", onclick: () => {
				this.isSure = false;
				redraw();
			}}, "Do not"),
		];
	}

	groups() {
		const of = what => [what.toLowerCase(), ([, group]) => count(group[what]), {numeric: true}];
		return table("Groups", [
			["group", ([name]) => name], of("Running"), of("Starting"), ["not placed", ([, g]) => count(g.Queued), {numeric: true}],
			of("Complete"), of("Failed"), of("Lost"), of("Unknown"),
		], Object.entries(this.summary.Summary ?? {}), ([name]) => name);
	}

	allocationsView() {
		return table(`Allocations${this.allocations.length === SHOWN ? `, the newest ${SHOWN}` : ""}`, [
			["allocation", a => link(href("allocation", a.ID), shortId(a.ID))],
			["name", a => a.Name],
			["node", a => link(href("node", a.NodeID), a.NodeName || shortId(a.NodeID))],
			["is", a => badge(a.ClientStatus)],
			["wanted", a => a.DesiredStatus],
			["healthy", a => a.DeploymentStatus?.Healthy === true ? "yes" : a.DeploymentStatus?.Healthy === false ? "no" : ""],
			["canary", a => a.DeploymentStatus?.Canary ? "yes" : ""],
			["version", a => a.JobVersion, {numeric: true}],
			["since", a => ago(a.CreateTime)],
		], this.allocations, a => a.ID);
	}

	evaluationsView() {
		return table("Evaluations", [
			["evaluation", e => link(href("evaluation", e.ID), shortId(e.ID))],
			["status", e => badge(e.Status)],
			["because of", e => e.TriggeredBy],
			["not placed", e => Object.keys(e.FailedTGAllocs ?? {}).join(", ")],
			["when", e => ago(e.CreateTime)],
		], this.evaluations, e => e.ID);
	}

	versionsView() {
		return table("Deployments", [
			["deployment", d => m("span.mono", shortId(d.ID))],
			["version", d => d.JobVersion, {numeric: true}],
			["status", d => badge(d.Status)],
			["why", d => d.StatusDescription],
		], this.deployments.slice(1), d => d.ID, "no earlier ones");
	}
}
