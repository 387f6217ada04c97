// Numbers, times and ids as people read them.
const NS_PER_MS = 1e6;

export const count = n => Number(n ?? 0).toLocaleString("en-US");

export const shortId = id => (id ?? "").slice(0, 8);

export function plural(n, one, many = one + "s") {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(part, whole) {
	return whole > 0 ? Math.round(part / whole * 100) : 0;
}

export function megabytes(mb) {
	if (mb >= 10 * 1024 * 1024)
		return `${count(Math.round(mb / 1024 / 1024))} TiB`;
	return mb >= 10 * 1024 ? `${count(Math.round(mb / 1024))} GiB` : `${count(mb)} MiB`;
}

// "12 s", "5 min", "3 h", "2 d"
export function duration(ms) {
	const s = Math.max(0, Math.round(ms / 1000));
	if (s < 120)
		return `${s} s`;
	if (s < 7200)
		return `${Math.round(s / 60)} min`;
	if (s < 172800)
		return `${Math.round(s / 3600)} h`;
	return `${Math.round(s / 86400)} d`;
}

// Of a time as the API gives it: unix nanoseconds, seconds below 1e12, or a text. "" without one.
export function millis(time) {
	if (typeof time === "string")
		return Date.parse(time) > 0 ? Date.parse(time) : 0;
	if (!time)
		return 0;
	return time < 1e12 ? time * 1000 : time / NS_PER_MS;
}

export function ago(time, now = Date.now()) {
	const ms = millis(time);
	return ms ? `${duration(now - ms)} ago` : "";
}

export function seconds(s) {
	if (!(s > 0))
		return "0";
	if (s >= 1)
		return `${s.toPrecision(3)} s`;
	return s >= 1e-3 ? `${(s * 1e3).toPrecision(3)} ms` : `${(s * 1e6).toPrecision(3)} µs`;
}
