// Peers that misbehave: what a kind of abuse consists of, and the loop that does it.
#pragma once
#include <stdbool.h>

#include "connection.h"

struct party;

// What one peer of an abuse does.
struct part {
    // Writes its hello's body: at most 64 KiB with the zero at the end. NULL: it says none.
    void (*hello)(char *text, size_t room, unsigned index);
    // Adds output, where what was added before has gone; NULL: it sends nothing of its own.
    void (*produce)(struct party *);
    // Seconds between two times of it; 0 is as often as the socket takes it.
    double gap;
    // Reads nothing after its start.
    bool is_deaf;
    // Seconds between two reads of 4 KiB; 0 reads all at once.
    double slowness;
    // Answers calls with so many bytes; 0 answers none.
    size_t answer;
    // Seconds after which it closes its connection and comes anew; 0 stays.
    double life;
    // Comes back when it was ended or refused.
    bool returns;
};

struct plan {
    const char *name;
    struct {
        const struct part *part;
        unsigned count;
    } parts[4];
};

// The plan that has a name; ends the program where there is none.
const struct plan *find_plan(const char *name);

// One connection that plays a part.
struct party {
    struct connection c;
    const struct part *part;
    const char *address;
    unsigned index;
    bool is_open;
    // What of the output has gone.
    size_t out_start;
    double produces_at, reads_at, ends_at, joins_at;
    // The producer's own count.
    uint64_t turn;
};

// What the abuse has done and what it met, for all parties.
struct tally {
    uint64_t joined, ended, sent, answers, notices;
};

extern struct tally tally;
