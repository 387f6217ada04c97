// Prometheus' text, as far as the plots need it: families of series with their labels and values.
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

// Map of the name to [{labels, value}].
export function parse(text) {
	const families = new Map();
	for (const line of text.split("\n")) {
		const found = line[0] !== "#" && LINE.exec(line);
		if (!found)
			continue;
		const [, name, inside, value] = found;
		const labels = {};
		for (const [, key, word] of (inside ?? "").matchAll(LABEL))
			labels[key] = word;
		if (!families.has(name))
			families.set(name, []);
		families.get(name).push({labels, value: Number(value)});
	}
	return families;
}

export function sum(families, name, wanted = {}) {
	return (families.get(name) ?? []).filter(({labels}) => Object.entries(wanted).every(([key, word]) => labels[key] === word))
		.reduce((all, series) => all + series.value, 0);
}

// The bound below which a part of what was counted between two looks lies; null when there was nothing. What is beyond
// the last bound is as good as on it.
export function quantileBetween(before, after, name, part) {
	const counts = new Map();
	for (const {labels, value} of after.get(`${name}_bucket`) ?? [])
		counts.set(labels.le, value);
	for (const {labels, value} of before.get(`${name}_bucket`) ?? [])
		counts.set(labels.le, (counts.get(labels.le) ?? 0) - value);
	const bounds = [...counts].map(([le, n]) => [le === "+Inf" ? Infinity : Number(le), n]).sort((a, b) => a[0] - b[0]);
	const total = bounds.at(-1)?.[1] ?? 0;
	if (total <= 0)
		return null;
	const found = bounds.find(([, n]) => n >= total * part);
	return found[0] === Infinity ? bounds.at(-2)?.[0] ?? null : found[0];
}
