// Plots of how the controller does. They begin when the page is first opened, and go on while the tab is there.
import {request, rest} from "../core/api.js";
import {m, unless} from "../core/dom.js";
import {Poll} from "../core/watch.js";
import {History, PLOTS} from "./history.js";
import {plotView} from "./plot.js";

const EVERY_MS = 2000;

let history = null, poll = null;

export class MetricsPage {
	constructor() {
		this.title = "Metrics";
		history ??= new History();
		poll ??= new Poll(EVERY_MS, async signal => {
			const response = await request("/v1/metrics?format=prometheus", {signal});
			history.add(await rest(response.text(), signal), Date.now());
		});
		// Whoever was refused may have another token now.
		if (poll.refusal)
			poll.again();
	}

	close() {}

	view() {
		return unless(poll, "Metrics", "reading agents (agent { policy = \"read\" })", () => [
			m("h2", "Metrics"), m("p.hint", "The last 15 minutes at most, since this page was first opened in this tab."),
			m(".plots", PLOTS.map((plot, i) => plotView(plot, history.points[i]))),
		]);
	}
}
