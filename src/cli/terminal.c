/* Owns the state of the terminal. The previous state is kept in static memory, where a signal
 * handler can find it: a crash must also restore the terminal. */
#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static const char enter_sequence[] = "\033[?1049h\033[?25l\033[H\033[2J";
static const char leave_sequence[] = "\033[0m\033[?25h\033[?1049l";
/* Signals that the event loop does not see. */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct termios before;
static volatile sig_atomic_t taken;

bool terminal_obeys(FILE *out)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(out)) && !(kind && !strcmp(kind, "dumb"));
}

bool terminal_get_size(int fd, struct terminal_size *out)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
        return false;
    *out = (struct terminal_size){size.ws_row, size.ws_col};
    return true;
}

size_t terminal_width(FILE *out)
{
    struct terminal_size size;
    const char *columns = getenv("COLUMNS");
    int64_t number;
    if (terminal_get_size(fileno(out), &size))
        return size.columns;
    if (columns && str_parse_int(columns, 1, 10000, &number, NULL) == 0)
        return (size_t)number;
    return 0;
}

/* Calls only what a signal handler may call. */
static void send_sequence(const char *text, size_t n)
{
    for (ssize_t sent; n && (sent = write(STDOUT_FILENO, text, n)) > 0; n -= (size_t)sent)
        text += sent;
}

void terminal_leave(void)
{
    if (!taken)
        return;
    taken = 0;
    send_sequence(leave_sequence, sizeof leave_sequence - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void on_crash(int number)
{
    terminal_leave();
    signal(number, SIG_DFL);
    raise(number);
}

int terminal_enter(struct err *err)
{
    if (tcgetattr(STDIN_FILENO, &before) < 0)
        return err_set(err, ERR_IO, "stdin is not a terminal: %s", strerror(errno));
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    taken = 1;
    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        signal(crashes[i], on_crash);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0) {
        taken = 0;
        return err_set(err, ERR_IO, "cannot set up the terminal: %s", strerror(errno));
    }
    send_sequence(enter_sequence, sizeof enter_sequence - 1);
    return 0;
}
