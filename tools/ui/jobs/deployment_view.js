// How far a deployment is, and what can be done about it.
import {change, path} from "../core/api.js";
import {action, badge, link, m} from "../core/dom.js";
import {href} from "../core/router.js";
import {shortId} from "../core/words.js";
import {canBePromoted, isActive, progress} from "./progress.js";

function groupView([name, group]) {
	const {healthy, unhealthy, placed} = progress(group);
	const words = `${group.HealthyAllocs} of ${group.DesiredTotal} healthy, ${group.UnhealthyAllocs} unhealthy, ` +
		`${group.PlacedAllocs} placed`;
	const canaries = group.PlacedCanaries?.length ?? 0;
	return m(".rollout", {key: name}, [
		m("div", [m("strong", name), ` ${words}`]),
		m(".bar", {
			role: "progressbar", "aria-label": `group ${name}`, "aria-valuemin": 0, "aria-valuemax": 100,
			"aria-valuenow": Math.round(healthy), "aria-valuetext": words,
		}, [
			m("span.is-healthy", {style: {width: `${healthy}%`}}),
			m("span.is-unhealthy", {style: {width: `${unhealthy}%`}}),
			m("span.is-placed", {style: {width: `${placed}%`}}),
		]),
		group.DesiredCanaries > 0 && m("div", `${canaries} of ${group.DesiredCanaries} canaries placed, ` +
			(group.Promoted ? "promoted" : "not promoted")),
	]);
}

// done(): after a change.
function actionsView(deployment, done) {
	const put = (what, body) => change("PUT", path`/v1/deployment/${what}/${deployment.ID}`,
		{DeploymentID: deployment.ID, ...body}).then(done);
	if (!isActive(deployment))
		return null;
	return m(".actions", [
		canBePromoted(deployment) && action("Promote", () => put("promote", {All: true}),
			{class: "strong promote", title: "the canaries take over"}),
		deployment.Status === "paused" ? action("Resume", () => put("pause", {Pause: false}))
			: action("Pause", () => put("pause", {Pause: true})),
		action("Fail", () => put("fail", {}), {class: "fail", title: "ends it; a job that asks for it goes back"}),
	]);
}

export function deploymentView(deployment, done) {
	return m("section.deployment", {key: deployment.ID}, [
		m("h3", ["Deployment ", m("span.mono", shortId(deployment.ID)), " of ",
			link(href("job", deployment.Namespace, deployment.JobID), deployment.JobID), ` version ${deployment.JobVersion} `,
			badge(deployment.Status)]),
		m("p", deployment.StatusDescription),
		Object.entries(deployment.TaskGroups).map(groupView),
		actionsView(deployment, done),
	]);
}
