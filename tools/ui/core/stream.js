// Lines of JSON as they come.

// Takes pieces of text, and gives the lines that are whole.
export class Lines {
	constructor() {
		this.rest = "";
	}

	take(text) {
		const lines = (this.rest + text).split("\n");
		this.rest = lines.pop();
		return lines.filter(line => line.trim()).map(line => JSON.parse(line));
	}
}

// Calls taken(object) for each line of a response until it ends.
export async function follow(response, taken) {
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	const lines = new Lines();
	for (;;) {
		const {done, value} = await reader.read();
		if (done)
			return;
		lines.take(value).forEach(taken);
	}
}
