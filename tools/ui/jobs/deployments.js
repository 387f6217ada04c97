// Deployments: those under way with what can be done about them, and the newest of those that are over.
import {badge, link, m, table, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {Watch} from "../core/watch.js";
import {shortId} from "../core/words.js";
import {deploymentView} from "./deployment_view.js";
import {isActive} from "./progress.js";

const SHOWN = 100;

export class DeploymentsPage {
	constructor() {
		this.title = "Deployments";
		this.watch = new Watch(`/v1/deployments?namespace=*&reverse=true&per_page=${SHOWN}`, data => this.all = data);
	}

	close() {
		this.watch.stop();
	}

	view() {
		return unless(this.watch, "Deployments", "read-job in a namespace", () => {
			const active = this.all.filter(isActive), over = this.all.filter(d => !isActive(d));
			return [
				m("h2", "Deployments"),
				active.length === 0 ? m("p.empty", "None is under way.")
					: m(".deployments", active.map(d => deploymentView(d, () => this.watch.again()))),
				table("The newest that are over", [
					["deployment", d => m("span.mono", shortId(d.ID))],
					["job", d => link(href("job", d.Namespace, d.JobID), d.JobID)],
					["version", d => d.JobVersion, {numeric: true}],
					["ended", d => badge(d.Status)],
					["why", d => d.StatusDescription],
				], over, d => d.ID),
			];
		});
	}
}
