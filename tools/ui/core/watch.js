// What is read again whenever it changes. A browser has few connections to one server, so a page that nobody sees
// gives its own back, and a page follows as few paths as it can.
import {read, Refusal} from "./api.js";
import {redraw} from "./frame.js";

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

// Work that goes on until it is stopped, and rests while nobody sees the page. What went wrong last is in `refusal`.
class Loop {
	constructor() {
		this.refusal = null;
		this.isLoaded = false;
		this.wake = () => document.hidden ? this.sleep() : this.go();
		document.addEventListener("visibilitychange", this.wake);
	}

	go() {
		if (this.stopper)
			return;
		this.stopper = new AbortController();
		this.work(this.stopper.signal);
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

	loaded() {
		this.isLoaded = true;
		this.refusal = null;
		redraw();
	}

	// Anything else than a refusal is a mistake of the page.
	refused(refusal) {
		if (!(refusal instanceof Refusal))
			throw refusal;
		this.refusal = refusal;
		redraw();
	}
}

// Follows one path. pathOf(): the path to ask now; taken(data, signal): the answer.
export class Watch extends Loop {
	constructor(pathOf, taken) {
		super();
		this.pathOf = typeof pathOf === "string" ? () => pathOf : pathOf;
		this.taken = taken;
		this.go();
	}

	async work(signal) {
		let index = 0, failures = 0;
		while (!signal.aborted) {
			try {
				index = await this.ask(index, signal);
				failures = 0;
				await pause(index ? REST_MS : 5 * REST_MS, signal);
			} catch (refusal) {
				if (signal.aborted)
					return;
				index = 0;
				this.refused(refusal);
				await pause(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)], signal);
			}
		}
	}

	// The index of the answer.
	async ask(index, signal) {
		const path = this.pathOf();
		const answer = await read(index ? withParameters(path, `index=${index}&wait=${WAIT}`) : path, {signal});
		await this.taken(answer.data, signal);
		signal.throwIfAborted();
		this.loaded();
		return answer.index;
	}
}

// Does work that cannot wait for changes every so often.
export class Poll extends Loop {
	constructor(every_ms, task) {
		super();
		this.task = task;
		this.every_ms = every_ms;
		this.go();
	}

	async work(signal) {
		while (!signal.aborted) {
			try {
				await this.task(signal);
				signal.throwIfAborted();
				this.loaded();
			} catch (refusal) {
				if (signal.aborted)
					return;
				this.refused(refusal);
			}
			await pause(this.every_ms, signal);
		}
	}
}
