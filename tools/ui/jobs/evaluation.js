// One evaluation: what led to it, what it placed, and why not more.
import {path, read} from "../core/api.js";
import {badge, facts, link, m, table, unless} from "../core/dom.js";
import {href} from "../core/router.js";
import {Watch} from "../core/watch.js";
import {ago, shortId} from "../core/words.js";
import {failuresView} from "./why_view.js";

export class EvaluationPage {
	constructor([id]) {
		this.id = id;
		this.title = "Evaluation";
		this.watch = new Watch(path`/v1/evaluation/${id}?related=true`, async (evaluation, signal) => {
			this.allocations = (await read(path`/v1/evaluation/${id}/allocations`, {signal})).data;
			this.evaluation = evaluation;
		});
	}

	close() {
		this.watch.stop();
	}

	view() {
		return unless(this.watch, "The evaluation", "read-job in its namespace", () => {
			const e = this.evaluation;
			return [
				m("h2", ["Evaluation ", m("span.mono", shortId(e.ID)), " ", badge(e.Status)]),
				facts([
					["job", link(href("job", e.Namespace, e.JobID), e.JobID)], ["because of", e.TriggeredBy],
					["type", e.Type], ["priority", e.Priority], ["made", ago(e.CreateTime)],
					e.StatusDescription && ["says", e.StatusDescription],
				]),
				failuresView(e) ?? m("p", "It placed all that it was to."),
				this.placed(), this.related(),
			];
		});
	}

	placed() {
		return table("What it placed", [
			["allocation", a => link(href("allocation", a.ID), shortId(a.ID))], ["name", a => a.Name],
			["node", a => link(href("node", a.NodeID), a.NodeName || shortId(a.NodeID))], ["is", a => badge(a.ClientStatus)],
		], this.allocations, a => a.ID, "nothing");
	}

	related() {
		return table("What led to it, and what follows", [
			["evaluation", r => link(href("evaluation", r.ID), shortId(r.ID))], ["status", r => badge(r.Status)],
			["because of", r => r.TriggeredBy], ["says", r => r.StatusDescription],
		], this.evaluation.RelatedEvals ?? [], r => r.ID);
	}
}
