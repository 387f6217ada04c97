// Which page the part of the address behind "#" names: "#/job/default/web" is the page "job" of ["default", "web"].
export function parse(hash) {
	const [place, query] = hash.replace(/^#\/?/, "").split("?", 2);
	const [name, ...parts] = place.split("/");
	return {name: name || "fleet", parts: parts.map(decode), query: new URLSearchParams(query ?? "")};
}

function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

export function href(name, ...parts) {
	return "#/" + [name, ...parts.map(encodeURIComponent)].join("/");
}
