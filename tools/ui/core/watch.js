// What is read again whenever it changes. A browser has few connections to one server, so a page that nobody sees
// gives its own back, and a page follows as few paths as it can.
import {read} from "./api.js";
import {redraw} from "./dom.js";

const WAIT = "60s";
const REST_MS = 1000; // between two answers, however quickly things change
const RETRY_MS = [1000, 2000, 5000, 10000];

function pause(ms, signal) {
	return new Promise(resolve => {
		const end = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		signal.addEventListener("abort", end);
	});
}

function withParameters(path, parameters) {
	return path + (path.includes("?") ? "&" : "?") + parameters;
}

// Follows one path. pathOf(): the path to ask now; taken(data): the answer. What went wrong is in `refusal`.
export class Watch {
	constructor(pathOf, taken) {
		this.pathOf = typeof pathOf === "string" ? () => pathOf : pathOf;
		this.taken = taken;
		this.refusal = null;
		this.isLoaded = false;
		this.wake = () => document.hidden ? this.sleep() : this.go();
		document.addEventListener("visibilitychange", this.wake);
		this.go();
	}

	go() {
		if (this.stopper)
			return;
		this.stopper = new AbortController();
		this.follow(this.stopper.signal);
	}

	sleep() {
		this.stopper?.abort();
		this.stopper = null;
	}

	stop() {
		document.removeEventListener("visibilitychange", this.wake);
		this.sleep();
	}

	// Asks at once.
	again() {
		this.sleep();
		this.go();
	}

	async follow(signal) {
		let index = 0, failures = 0;
		while (!signal.aborted) {
			try {
				const path = this.pathOf();
				const answer = await read(index ? withParameters(path, `index=${index}&wait=${WAIT}`) : path, {signal});
				if (signal.aborted)
					return;
				index = answer.index;
				failures = 0;
				await this.taken(answer.data, signal);
				this.isLoaded = true;
				this.refusal = null;
				redraw();
				await pause(index ? REST_MS : 5 * REST_MS, signal);
			} catch (refusal) {
				if (signal.aborted)
					return;
				this.refusal = refusal;
				index = 0;
				redraw();
				await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)], signal);
			}
		}
	}
}

// Reads paths that cannot wait for changes every so often.
export class Poll {
	constructor(every_ms, work) {
		this.work = work;
		this.every_ms = every_ms;
		this.refusal = null;
		this.wake = () => document.hidden ? this.sleep() : this.go();
		document.addEventListener("visibilitychange", this.wake);
		this.go();
	}

	go() {
		if (this.stopper)
			return;
		this.stopper = new AbortController();
		this.turn(this.stopper.signal);
	}

	async turn(signal) {
		while (!signal.aborted) {
			try {
				await this.work(signal);
				this.refusal = null;
			} catch (refusal) {
				if (signal.aborted)
					return;
				this.refusal = refusal;
			}
			redraw();
			await pause(this.every_ms, signal);
		}
	}

	sleep() {
		this.stopper?.abort();
		this.stopper = null;
	}

	stop() {
		document.removeEventListener("visibilitychange", this.wake);
		this.sleep();
	}
}
