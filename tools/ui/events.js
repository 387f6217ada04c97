// What happens, as it happens.
import {Refusal, request, rest} from "./core/api.js";
import {link, m, redraw, table, unless} from "./core/dom.js";
import {href} from "./core/router.js";
import {follow} from "./core/stream.js";
import {Poll} from "./core/watch.js";
import {shortId} from "./core/words.js";

const TOPICS = ["Node", "Job", "Evaluation", "Allocation", "Deployment", "VM", "VMWorker", "Liveness", "Admission", "Sender", "Audit"];
const FIRST = ["Node", "Job", "Evaluation", "Allocation", "Deployment"];
const KEPT = 500;
const AGAIN_MS = 2000;

const PLACES = {
	Node: e => href("node", e.Key), Job: e => href("job", e.Namespace, e.Key),
	Evaluation: e => href("evaluation", e.Key), Allocation: e => href("allocation", e.Key),
};

// Of an event in few words.
function wordsOf({Topic, Payload}) {
	const thing = Payload?.[Topic] ?? {};
	const job = thing.JobID ? `${thing.JobID} ` : "";
	switch (Topic) {
	case "Node": return `${thing.Name ?? ""} ${thing.Status ?? "gone"} ${thing.SchedulingEligibility ?? ""}`;
	case "Allocation": return `${thing.Name} wanted ${thing.DesiredStatus}, is ${thing.ClientStatus}`;
	case "Evaluation": return `${job}${thing.TriggeredBy} ${thing.Status}`;
	case "Deployment": return `${job}${thing.Status}: ${thing.StatusDescription}`;
	case "Job": return `version ${thing.Version} ${thing.Status}`;
	default: return thing.status ?? thing.Status ?? "";
	}
}

export class EventsPage {
	constructor() {
		this.title = "Events";
		this.topics = new Set(FIRST);
		this.rows = [];
		this.seen = 0;
		this.index = 0;
		this.isPaused = false;
		this.begin();
	}

	begin() {
		this.poll?.stop();
		this.poll = new Poll(AGAIN_MS, signal => this.listen(signal));
	}

	close() {
		this.poll.stop();
	}

	async listen(signal) {
		if (this.topics.size === 0)
			return;
		const topics = [...this.topics].map(topic => `topic=${topic}`).join("&");
		const response = await request(`/v1/event/stream?${topics}&namespace=*${this.index ? `&index=${this.index + 1}` : ""}`, {signal});
		this.poll.loaded();
		await rest(follow(response, line => this.take(line)), signal);
	}

	take({Events, Index, Error: lost}) {
		if (lost)
			throw new Refusal(0, lost);
		if (Index)
			this.index = Index;
		for (const event of Events ?? []) {
			this.seen++;
			this.rows.unshift({event, number: this.seen, time: new Date()});
		}
		this.rows.length = Math.min(this.rows.length, KEPT);
		if (!this.isPaused)
			redraw();
	}

	toggle(topic) {
		if (!this.topics.delete(topic))
			this.topics.add(topic);
		this.begin();
		redraw();
	}

	view() {
		if (!this.isPaused)
			this.shown = [...this.rows];
		return [
			m("h2", "Events"),
			m(".controls", [
				m("fieldset", [m("legend", "topics"), TOPICS.map(topic => m("label", [
					m("input[type=checkbox]", {checked: this.topics.has(topic), onchange: () => this.toggle(topic)}), topic,
				]))]),
				m("button#pause[type=button]", {
					"aria-pressed": String(this.isPaused), onclick: () => {
						this.isPaused = !this.isPaused;
						redraw();
					},
				}, this.isPaused ? "Go on" : "Hold"),
			]),
			unless(this.poll, "Events", "the rights of all chosen topics", () => this.list()),
		];
	}

	list() {
		return table("The newest events", [
			["at", ({time}) => time.toLocaleTimeString()],
			["index", ({event}) => event.Index, {numeric: true}],
			["topic", ({event}) => event.Topic],
			["what", ({event}) => event.Type],
			["of", ({event}) => event.Topic in PLACES ? link(PLACES[event.Topic](event), keyOf(event)) : keyOf(event)],
			["says", ({event}) => wordsOf(event)],
		], this.shown, ({number}) => number, "nothing happened yet");
	}
}

const keyOf = event => /^[0-9a-f]{8}-/.test(event.Key) ? shortId(event.Key) : event.Key;
