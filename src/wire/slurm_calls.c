/* Owns the search for calls of Slurm's commands in a script. */
#include "wire/slurm_calls.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static const char *const commands[] = {"srun",  "sbcast",  "sbatch", "salloc", "sattach",
                                       "sinfo", "scancel", "squeue", "sacct",  "scontrol"};

/* Words after which a shell expects another command. */
static const char *const prefixes[] = {"exec",  "time",    "then",  "do",  "else", "if", "while",
                                       "until", "command", "nohup", "env", "!",    "{"};

static const char *find_word(const char *const *words, size_t count, const char *word, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == n && !strncmp(words[i], word, n))
            return words[i];
    return NULL;
}

/* A=1 before a command. */
static bool is_assignment(const char *word, size_t n)
{
    const char *equals = memchr(word, '=', n);
    return equals && equals > word;
}

/* The name of the first call in a line of n bytes; NULL when there is none. */
static const char *find_call(const char *line, size_t n)
{
    bool expected = true; /* a command may stand here */
    for (size_t i = 0; i < n;) {
        if (strchr(";&|()`", line[i])) {
            expected = true;
            i++;
            continue;
        }
        if (line[i] == ' ' || line[i] == '\t') {
            i++;
            continue;
        }
        if (line[i] == '#')
            return NULL;
        size_t length = strcspn(line + i, " \t;&|()`\n");
        const char *found = find_word(commands, COUNT_OF(commands), line + i, length);
        if (expected && found)
            return found;
        expected = expected && (is_assignment(line + i, length) ||
                                find_word(prefixes, COUNT_OF(prefixes), line + i, length));
        i += length;
    }
    return NULL;
}

void slurm_find_calls(const char *script, void (*fn)(void *ctx, uint32_t line, const char *command),
                      void *ctx)
{
    uint32_t number = 1;
    for (const char *p = script; *p; number++) {
        size_t n = strcspn(p, "\n");
        const char *command = find_call(p, n);
        if (command)
            fn(ctx, number, command);
        p += n + (p[n] == '\n');
    }
}
