#pragma once
#include "bus.h"

struct options {
    const char *address;
    // Where the observers of broadcasts connect.
    const char *observers_address;
    size_t body;
    unsigned open, peers, index;
    double warm_up, seconds;
    unsigned rounds;
    // The process's real-time priority; 0 is none.
    int realtime;
    // Between two paced calls, in microseconds.
    double gap;
    // What is asked, or which abuse it is.
    const char *word;
};

// Each prints one line to standard output when it is done; a callee one when it is ready.
void run_caller(const struct bus *, const struct options *);
void run_callee(const struct bus *, const struct options *);
void run_broadcasts(const struct bus *, const struct options *);
void run_idle(const struct bus *, const struct options *);
// One call open, a new one each `gap`: what a bystander feels of others.
void run_paced(const struct bus *, const struct options *);
// Asks an action of the broker's as an operator, and prints the answer's body.
void run_ask(const struct bus *, const struct options *);
// Abuses the bus until standard input ends, then prints what that brought: see abuse.h.
void run_abuse(const struct bus *, const struct options *);
// Monitors, and gives credit for what it takes at once, or with the word silent none; prints how many frames it was told.
void run_monitor(const struct bus *, const struct options *);
// Names that nobody asks for: as many interfaces, URLs and observations as `peers`.
void run_crowd(const struct bus *, const struct options *);
// Both ends in one process, batch by batch: each bus reads the same pieces in each run.
void run_lockstep_calls(const struct bus *, const struct options *);
void run_lockstep_broadcasts(const struct bus *, const struct options *);
// Calls of 64 bytes, and calls and replies of `body` bytes in a memory file, by turns; prints the microseconds of each.
void run_files(const struct bus *, const struct options *);

// A JSON string of this many bytes, the quotes included.
uint8_t *make_body(size_t count);
double seconds_now(void);
// Says that it is ready, and returns when standard input ends.
void wait_for_end(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
