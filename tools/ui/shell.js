// What is around every page: where one can go, who one is, and what was said last.
import {link, m, noticeView, redraw} from "./core/dom.js";
import {parse} from "./core/router.js";
import {token} from "./core/session.js";
import {FleetPage} from "./fleet/page.js";
import {AllocationPage} from "./jobs/allocation.js";
import {DeploymentsPage} from "./jobs/deployments.js";
import {EvaluationPage} from "./jobs/evaluation.js";
import {JobPage} from "./jobs/job.js";
import {JobsPage} from "./jobs/jobs.js";
import {LoginPage} from "./login.js";
import {NodePage} from "./node.js";

const PAGES = {
	fleet: FleetPage, node: NodePage, jobs: JobsPage, job: JobPage, allocation: AllocationPage,
	evaluation: EvaluationPage, deployments: DeploymentsPage, login: LoginPage,
};
const MENU = [["fleet", "Fleet"], ["jobs", "Jobs"], ["deployments", "Deployments"]];

let page = null, at = "";

function open() {
	const {name, parts, query} = parse(location.hash);
	page?.close();
	at = name;
	page = new (PAGES[name] ?? PAGES.fleet)(parts, query);
	window.scrollTo(0, 0);
	redraw();
}

// A page that was left is taken apart before the next one is put together: its canvas is its own.
export function view() {
	document.title = page ? `${page.title} · Berth` : "Berth";
	return [
		m("a.skip", {href: "#main", onclick: skip}, "to the contents"),
		m("header", [
			m("a.brand", {href: "#/fleet"}, [m("img", {src: "mark.svg", alt: "", width: 22, height: 22}), "Berth"]),
			m("nav", {"aria-label": "pages"}, MENU.map(([name, label]) =>
				link(`#/${name}`, label, {"aria-current": name === at ? "page" : undefined}))),
			link("#/login", token() ? "token shown" : "token", {class: "token", "aria-current": at === "login" ? "page" : undefined}),
		]),
		m("main#main", {tabindex: -1}, [m(".page", {key: location.hash}, [m("h1.spoken", page?.title), page?.view()])]),
		noticeView(),
		m("footer", [link("licenses.txt", "licences"), " ", link("/v1/openapi.json", "API")]),
	];
}

function skip(e) {
	e.preventDefault();
	document.getElementById("main").focus();
}

export function start() {
	addEventListener("hashchange", open);
	open();
}
