#include "tools/berth/commands/inside/raw_terminal.h"
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool is_raw;

bool raw_terminal_begin(void)
{
	struct termios raw;
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return false;
	raw = before;
	cfmakeraw(&raw);
	is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
	return is_raw;
}

void raw_terminal_end(void)
{
	if (is_raw)
		(void)tcsetattr(
			STDIN_FILENO, TCSADRAIN, &before); // a terminal that is gone needs nothing
	is_raw = false;
}

bool raw_terminal_size(uint16_t *rows, uint16_t *columns)
{
	struct winsize size;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0 &&
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return false;
	*rows = size.ws_row;
	*columns = size.ws_col;
	return true;
}
