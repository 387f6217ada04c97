// The one fleet that all pages show: loaded once, then kept by what changed. It is followed while a page wants it.
import {Watch} from "../core/watch.js";
import {Fleet} from "./model.js";

export const fleet = new Fleet();

let watch = null, since = "", users = 0;
const listeners = new Set();

// changed(slots, isWhole) is called after each answer; NULL: only drawing. Returns the watch; end it with leave.
export function enter(changed) {
	users++;
	if (changed)
		listeners.add(changed);
	if (!watch)
		watch = new Watch(
			() => `/v1/berth/fleet${since ? `?since=${since}` : ""}`,
			answer => {
				since = answer.Since;
				const slots = fleet.apply(answer);
				for (const listener of listeners)
					listener(slots, answer.Whole);
			});
	return watch;
}

export function leave(changed) {
	listeners.delete(changed);
	if (--users > 0)
		return;
	watch.stop();
	watch = null;
}

// Another token may see other things.
export function forget() {
	since = "";
	watch?.again();
}
