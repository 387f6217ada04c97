// When to draw: once a frame, however often it is asked for.
let draw = null, isAsked = false;

export function drawWith(work) {
	draw = work;
	draw();
}

export function redraw() {
	if (isAsked || !draw)
		return;
	isAsked = true;
	requestAnimationFrame(() => {
		isAsked = false;
		draw();
	});
}
