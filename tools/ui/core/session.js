// The token that requests show. It lives as long as the tab, and nowhere else.
const KEY = "berth-token";

export function token() {
	return sessionStorage.getItem(KEY) ?? "";
}

export function keepToken(secret) {
	if (secret)
		sessionStorage.setItem(KEY, secret);
	else
		sessionStorage.removeItem(KEY);
}
