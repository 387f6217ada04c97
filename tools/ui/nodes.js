// The nodes as a list, by what they are and how they are called.
import {badge, link, m, redraw, table, unless} from "./core/dom.js";
import {href} from "./core/router.js";
import {count, percent, shortId} from "./core/words.js";
import {STATES} from "./fleet/model.js";
import {enter, fleet, leave} from "./fleet/store.js";

const SHOWN = 200;

export class NodesPage {
	constructor(parts, query) {
		this.title = "Nodes";
		this.state = STATES.indexOf(query.get("state"));
		this.text = "";
		this.watch = enter();
	}

	close() {
		leave();
	}

	view() {
		return unless(this.watch, "Nodes", "reading nodes (node { policy = \"read\" })", () => {
			const counts = fleet.counts();
			const slots = fleet.find(this.text, SHOWN, this.state);
			return [
				m("h2", "Nodes"),
				m(".controls", [
					m("label", ["which are ", m("select#state", {
						onchange: e => {
							this.state = Number(e.target.value);
							redraw();
						},
					}, [m("option", {value: -1, selected: this.state < 0}, `anything (${count(fleet.nodes)})`),
						...STATES.map((state, i) => m("option", {value: i, selected: i === this.state},
							`${state} (${count(counts[i])})`))])]),
					m("label", ["find ", m("input#find[type=search]", {
						placeholder: "name or id", value: this.text, oninput: e => {
							this.text = e.target.value;
							redraw();
						},
					})]),
					slots.length === SHOWN && m("span.hint", `the first ${SHOWN} are shown`),
				]),
				this.list(slots),
			];
		});
	}

	list(slots) {
		const part = (slot, used, whole) => `${percent(fleet[used][slot], fleet[whole][slot])} %`;
		return table("Nodes", [
			["node", slot => link(href("node", fleet.ids[slot]), fleet.names[slot])],
			["id", slot => m("span.mono", shortId(fleet.ids[slot]))],
			["is", slot => badge(STATES[fleet.state[slot]])],
			["datacenter", slot => fleet.word(slot, "datacenter")], ["pool", slot => fleet.word(slot, "pool")],
			["class", slot => fleet.word(slot, "nodeClass")],
			["CPU", slot => part(slot, "cpuUsed", "cpu"), {numeric: true}],
			["memory", slot => part(slot, "memoryUsed", "memory"), {numeric: true}],
			["allocations", slot => count(fleet.allocations[slot]), {numeric: true}],
		], slots, slot => slot);
	}
}
