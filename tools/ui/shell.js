// What is around every page: where one can go, who one is, and what was said last.
import {link, m, noticeView, redraw} from "./core/dom.js";
import {parse} from "./core/router.js";
import {token} from "./core/session.js";
import {ControllerPage} from "./controller.js";
import {DrainsPage} from "./drains.js";
import {EventsPage} from "./events.js";
import {FleetPage} from "./fleet/page.js";
import {AllocationPage} from "./jobs/allocation.js";
import {DeploymentsPage} from "./jobs/deployments.js";
import {EvaluationPage} from "./jobs/evaluation.js";
import {JobPage} from "./jobs/job.js";
import {JobsPage} from "./jobs/jobs.js";
import {LoginPage} from "./login.js";
import {MachinesPage} from "./machines.js";
import {MetricsPage} from "./metrics/page.js";
import {NodePage} from "./node.js";
import {NodesPage} from "./nodes.js";

const PAGES = {
	fleet: FleetPage, node: NodePage, jobs: JobsPage, job: JobPage, allocation: AllocationPage,
	evaluation: EvaluationPage, deployments: DeploymentsPage, login: LoginPage, nodes: NodesPage, drains: DrainsPage,
	machines: MachinesPage, events: EventsPage, metrics: MetricsPage, controller: ControllerPage,
};
const MENU = [
	["fleet", "Fleet"], ["nodes", "Nodes"], ["jobs", "Jobs"], ["deployments", "Deployments"], ["drains", "Drains"],
	["machines", "Machines"], ["events", "Events"], ["metrics", "Metrics"], ["controller", "Controller"],
];

let page = null, at = "";

function open() {
	const {name, parts, query} = parse(location.hash);
	page?.close();
	at = name;
	page = new (PAGES[name] ?? PAGES.fleet)(parts, query);
	window.scrollTo(0, 0);
	redraw();
}

const current = name => name === at ? {"aria-current": "page"} : {};

// A page that was left is taken apart before the next one is put together: its canvas is its own.
export function view() {
	document.title = page ? `${page.title} · Berth` : "Berth";
	return [
		m("a.skip", {href: "#main", onclick: skip}, "to the contents"),
		m("header", [
			m("a.brand", {href: "#/fleet"}, [m("img", {src: "mark.svg", alt: "", width: 22, height: 22}), "Berth"]),
			m("nav", {"aria-label": "pages"}, MENU.map(([name, label]) =>
				link(`#/${name}`, label, current(name)))),
			link("#/login", token() ? "token shown" : "token", {class: "token", ...current("login")}),
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
