/* Plays any game by chance, with nothing but the C library of POSIX.
 *
 *     cc -O2 -o uniform uniform.c
 *     fritillary match lepidoptery -s "stdio:./uniform" -s uniform
 *
 * It reads three things of an ask: {"type":"ask", "seed":7, "legal":[{"index":0}, ...]}
 * and steps over all else, whatever it holds. A bot that reads the observation is better
 * off with a JSON library.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions below take a place in a line and return a later one. The line ends with
 * a zero, where all of them stop: none reads past it, be the line cut short or garbled. */

static const char *space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Step over a string; `at` is its first quotation mark. */
static const char *string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* Step over any value: brackets are counted, those in strings are not. */
static const char *value(const char *at) {
    int depth = 0;
    at = space(at);
    do {
        if (*at == '"') {
            at = string(at);
        } else if (*at == '{' || *at == '[') {
            depth++, at++;
        } else if (*at == '}' || *at == ']') {
            depth--, at++;
        } else if (depth) {
            at += *at ? 1 : 0;
        } else {
            at += strcspn(at, ",]}");
        }
    } while (*at && depth > 0);
    return space(at);
}

/* Return where the value of a key of an object stands, or NULL. */
static const char *find(const char *object, const char *key) {
    size_t size = strlen(key);
    const char *at = space(object);
    if (*at != '{') return NULL;
    for (at = space(at + 1); *at == '"'; at = space(at + (*at == ','))) {
        const char *name = at + 1, *end = string(at);
        int same = end - name == (long)size + 1 && !strncmp(name, key, size);
        at = space(end);
        if (*at != ':') return NULL;
        at = space(at + 1);
        if (same) return at;
        at = value(at);
    }
    return NULL;
}

/* Return the index of the legal action at a position, or their number if it is -1. */
static long legal(const char *list, long position) {
    long count = 0;
    const char *at = space(list);
    if (*at != '[') return 0;
    for (at = space(at + 1); *at == '{'; at = space(at + (*at == ','))) {
        const char *index = find(at, "index");
        if (count == position) return index ? strtol(index, NULL, 10) : -1;
        count++;
        at = value(at);
    }
    return count;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    /* getline makes room for a line of any length. */
    while (getline(&line, &room, stdin) > 0) {
        const char *type = find(line, "type");
        const char *seed = find(line, "seed"), *list = find(line, "legal");
        if (!type || strncmp(type, "\"ask\"", 5) || !seed || !list) continue;
        long count = legal(list, -1);
        if (count <= 0) continue;
        printf("{\"index\":%ld}\n", legal(list, strtol(seed, NULL, 10) % count));
        fflush(stdout); /* else the answer stays in a buffer, and the time runs out */
    }
    free(line);
    return 0;
}
