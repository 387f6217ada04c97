// Nodes that drain, and what each of them still waits for.
import {change, path, read} from "./core/api.js";
import {action, link, m, table, unless} from "./core/dom.js";
import {href} from "./core/router.js";
import {Poll} from "./core/watch.js";
import {ago, millis, plural, shortId} from "./core/words.js";
import {STATES} from "./fleet/model.js";
import {enter, fleet, leave} from "./fleet/store.js";

const DRAINING = STATES.indexOf("draining");
const SHOWN = 20;
const EVERY_MS = 2000;

export class DrainsPage {
	constructor() {
		this.title = "Drains";
		this.reports = [];
		this.watch = enter();
		this.poll = new Poll(EVERY_MS, signal => this.load(signal));
	}

	close() {
		this.poll.stop();
		leave();
	}

	slots() {
		const slots = [];
		for (let slot = 0; slot < fleet.size; slot++)
			if (fleet.state[slot] === DRAINING)
				slots.push(slot);
		return slots;
	}

	async load(signal) {
		const slots = this.slots();
		this.count = slots.length;
		this.reports = await Promise.all(slots.slice(0, SHOWN).map(async slot =>
			(await read(path`/v1/berth/node/${fleet.ids[slot]}/drain`, {signal})).data));
	}

	view() {
		return unless(this.watch, "Drains", "reading nodes (node { policy = \"read\" })", () => [
			m("h2", "Drains"),
			this.reports.length === 0 && m("p.empty", "No node drains."),
			this.count > SHOWN && m("p.hint", `${plural(this.count, "node")} drain; the first ${SHOWN} are shown.`),
			m(".drains", this.reports.map(report => this.report(report))),
		]);
	}

	report(report) {
		const deadline = millis(report.DrainStrategy?.ForceDeadline);
		return m("section.deployment", {key: report.NodeID}, [
			m("h3", [link(href("node", report.NodeID), report.NodeName), ` ${report.Phase}`]),
			m("p", `${plural(report.Remaining.length, "allocation")} to move. Began ${ago(report.DrainStrategy?.StartedAt)}` +
				(deadline ? `, ends by force at ${new Date(deadline).toLocaleTimeString()}.` : ".")),
			report.Waiting.length > 0 && m("ul", report.Waiting.map(wait =>
				m("li", `${wait.JobID}, group ${wait.Group}: ${wait.Remaining} remain, ${wait.Leaving} leave. ${wait.Reason}`))),
			report.Remaining.length > 0 && table(`On ${report.NodeName}`, [
				["allocation", a => link(href("allocation", a.ID), shortId(a.ID))], ["name", a => a.Name],
				["is", a => a.ClientStatus], ["leaves", a => a.Leaving ? "yes" : ""],
			], report.Remaining, a => a.ID),
			m(".actions", action("Stop draining", () => change("PUT", path`/v1/node/${report.NodeID}/drain`,
				{DrainSpec: null, MarkEligible: true}).then(() => this.poll.again()))),
		]);
	}
}
