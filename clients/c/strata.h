/* A client of the Strata bus in C: modules and operators' tools.
 *
 * One header and one file, C11 and Linux, nothing beyond libc. It follows the
 * protocol (docs/protocol.md) and the behaviour that docs/session.md
 * recommends. clients/c/README.md shows a module in 20 lines.
 *
 * Threads: a `strata` belongs to one thread. No function may be called from
 * another thread or from a signal handler, except strata_stop().
 *
 * Texts: every `const char *` is UTF-8 and ends with a NUL. A body is one JSON
 * value in UTF-8, with a length; a length of 0 means that the body ends with a
 * NUL, and a NULL body is JSON's null. Bodies that this library gives have a
 * NUL after their last byte. Text that the caller passes is copied. A body that
 * it passes isn't checked: the receiver refuses one that isn't JSON.
 *
 * Large bodies: from 256 KiB on, those of calls, final replies and reports go in
 * memory files and are mapped where they come, up to the bus's `limits.body`. They
 * count neither for `memory` nor for `frame`.
 */
#ifndef STRATA_H
#define STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------ */

/** What a function that can be refused returns. Nothing was sent unless it is
 * STRATA_OK. */
typedef enum strata_status {
  STRATA_OK = 0,
  STRATA_UNAVAILABLE, /**< there is no connection at present */
  STRATA_OVERLOADED,  /**< `calls`, `queued` or `nesting` is used up, or too many large bodies are unsent */
  STRATA_NO_MEMORY,   /**< `memory` is used up, or the allocator refused */
  STRATA_TOO_LARGE,   /**< the header, the frame or the body exceeds the bus's limit */
  STRATA_NO_CREDIT,   /**< the caller takes no part now: wait for `writable` */
  STRATA_ENDED,       /**< the request has its answer, or was cancelled */
  STRATA_INVALID      /**< an argument is wrong, or comes too late */
} strata_status;

/** The protocol's code for a status, such as "overloaded". */
const char *strata_status_code(strata_status status);

/* ---- A peer ------------------------------------------------------------ */

/** A module or an operator: its declarations and its one connection. */
typedef struct strata strata;

/** A request that this peer serves: a call, a notice, an event or a step. */
typedef struct strata_request strata_request;

/** Allocates, changes and frees memory as realloc does: `old` is NULL for a new
 * block, `size` is 0 to free one. Returns NULL if it can't (never when it
 * makes a block smaller). */
typedef void *strata_allocator(void *context, void *old, size_t old_size, size_t size);

/** What bounds a peer, and who it is. All members may be 0 or NULL, which
 * means the default. */
typedef struct strata_options {
  const char *name;    /**< the module's name; STRATA_MODULE replaces it */
  const char *level;   /**< the level it expects; the bus checks it */
  const char *runtime; /**< what the program is, for people */
  const char *socket;  /**< the bus; default STRATA_SOCKET */
  bool is_operator;    /**< an operator instead of a module */
  size_t memory;       /**< most bytes in all, at least 64 KiB; default 64 MiB */
  size_t frame;        /**< longest frame to take; default 16 MiB + 1 KiB */
  size_t queued;       /**< most bytes of requests and parts that wait to be sent; default 8 MiB */
  size_t calls;        /**< most own open requests; default 1,024 */
  size_t served;       /**< most requests served at once; default 1,024 */
  size_t nesting;      /**< most strata_wait() inside one another; default 16 */
  strata_allocator *allocator; /**< default: realloc and free */
  void *allocator_context;
  /** Gets one line for each thing that a person should know, without a line
   * break; default: standard error. */
  void (*log)(void *context, const char *line);
  void *log_context;
  /** Descriptors go with its requests, and come with replies and reports. An
   * action that strata_descriptors() declares says so by itself. */
  bool descriptors;
} strata_options;

/** Makes a peer, not yet connected. `options` may be NULL. Returns NULL if
 * there is no memory, or `memory` is too small. */
strata *strata_new(const strata_options *options);

/** Closes the connection and frees everything, kept requests included. Calls
 * no callback. */
void strata_free(strata *bus);

/** How many bytes the peer has allocated now; never above `memory`. */
size_t strata_memory(const strata *bus);

/* ---- Declarations ------------------------------------------------------ */
/* Before the first connection, because hello tells them to the bus. Only
 * strata_observe() may come later. Each returns STRATA_INVALID if it comes too
 * late or is malformed. */

/** Serves one request. It answers with strata_reply() or strata_fail(), or
 * keeps the request with strata_keep() and answers it later. If a handler
 * returns without either, a call ends with `failed`; a notice, an event
 * (`true`) and a step end well. The handler may make calls and wait for them. */
typedef void strata_handler(strata_request *request, void *context);

enum {
  STRATA_AUTH = 1,   /**< the app's authorizer is asked first */
  STRATA_STREAM = 2, /**< the action answers in parts */
  STRATA_SECRET = 4  /**< for strata_setting() */
};

enum { STRATA_DESCRIPTORS = 16 /**< the most descriptors that go with one message */ };

/** Provides the action `Interface/action`; `Interface/` takes any action. */
strata_status strata_action(strata *bus, const char *path, unsigned flags, strata_handler *handler, void *context);

/** Declares how many descriptors an action of strata_action() takes with a call
 * and gives with its reply at most, 0 to STRATA_DESCRIPTORS each. */
strata_status strata_descriptors(strata *bus, const char *path, unsigned params, unsigned reply);

/** The contract's version of an interface that has actions, such as "1.0". */
strata_status strata_version(strata *bus, const char *interface, const char *version);

/** Makes an interface's instances `multiple`. `created` may refuse with
 * strata_fail(). `released` is called once for each that `created` took, also
 * when the connection is lost. Either may be NULL. */
strata_status strata_instances(strata *bus, const char *interface, strata_handler *created, strata_handler *released,
                               void *context);

/** Maps URLs of a host, such as "/show/:id", to one of the actions. */
strata_status strata_url(strata *bus, const char *host, const char *path, const char *to);

/** Takes the event of this name. `true` is answered unless the handler
 * answers. */
strata_status strata_event(strata *bus, const char *name, strata_handler *handler, void *context);

strata_status strata_requires(strata *bus, const char *interface_and_version);
strata_status strata_broadcasts(strata *bus, const char *name);
strata_status strata_reports(strata *bus, const char *module, const char *name);

/** Declares a setting, with STRATA_SECRET or 0. All names together have at
 * most 24 KiB. */
strata_status strata_setting(strata *bus, const char *key, unsigned flags);

/** An observation. */
typedef struct strata_observation {
  /** A segment `*` in the name stands for any one segment, and a last `>` for
   * one or more: "storage.*", "storage.>". The notice says its name. */
  const char *name;
  const char *object;      /**< only notices about it; NULL for all */
  bool latest;             /**< keep: latest, else all */
  strata_handler *handler; /**< gets each notice; strata_fail() refuses a reported one */
  void *context;
  /** For one that begins later: called once, with STRATA_OK or not. May be
   * NULL. */
  void (*begun)(strata *bus, strata_status status, void *context);
  void *begun_context;
  bool share; /**< one replica of the module's row gets each broadcast */
} strata_observation;

/** Begins an observation: in hello, or at once if the peer is connected. It
 * outlives the connection. */
strata_status strata_observe(strata *bus, const strata_observation *observation);

/** Ends all observations of this name. Their handlers aren't called any more. */
strata_status strata_unobserve(strata *bus, const char *name);

/** The steps of a module's life. A NULL handler answers unknown-action. */
typedef struct strata_steps {
  strata_handler *set_up, *initialize, *did_start;
  strata_handler *settings;  /**< new settings: strata_settings() has them; strata_fail() takes none */
  strata_handler *retiring;  /**< another process takes over: end streams */
  strata_handler *tear_down; /**< once, also at SIGTERM and the launcher's end */
  strata_handler *metrics, *contracts;
  /** An instance of another module has ended; its text is in the body. */
  strata_handler *instance_ended;
  void *context;
  /** The connection began (true), or was lost: instances are gone then. */
  void (*connection)(strata *bus, bool connected, void *context);
} strata_steps;
strata_status strata_life(strata *bus, const strata_steps *steps);

/* ---- Served requests --------------------------------------------------- */
/* Texts and bodies are valid until the request is freed: when its handler has
 * returned or, if it was kept, when it is answered. */

strata *strata_bus(const strata_request *request);
const char *strata_body(const strata_request *request); /**< JSON, checked; "null" if empty */
size_t strata_length(const strata_request *request);
const char *strata_to(const strata_request *request);   /**< `Interface/action`, `Interface#7/action`, "" */
const char *strata_from(const strata_request *request); /**< "" if unknown */
const char *strata_name(const strata_request *request); /**< a notice's or an event's; else "" */
const char *strata_object(const strata_request *request); /**< NULL if there is none */
const char *strata_url_of(const strata_request *request); /**< NULL if no URL was opened */
const char *strata_trace(const strata_request *request);  /**< NULL if there is none */
const char *strata_meta(const strata_request *request, size_t *length); /**< JSON, not ended by a NUL; NULL if none */
int64_t strata_missed(const strata_request *request);
bool strata_retained(const strata_request *request);    /**< kept by the bus for this observation, which began since */
int64_t strata_deadline(const strata_request *request); /**< milliseconds given at its arrival; 0 for no end */
bool strata_cancelled(const strata_request *request);   /**< nobody waits for the answer any more */

/** The instance that the call is for, such as "Box#3"; "" if it is for none. */
const char *strata_instance(const strata_request *request);

/** Where the program keeps a pointer for that instance. NULL if it is for
 * none. `released` should free what it leads to. */
void **strata_instance_data(strata_request *request);

/** How many descriptors came with a call or a report. Those that aren't taken are
 * closed when the request is freed. */
size_t strata_descriptor_count(const strata_request *request);

/** Takes one of them over: from now on it is the caller's to close. -1 if there
 * is none at this index, or it was taken. Programs that this process starts
 * don't inherit it. */
int strata_take_descriptor(strata_request *request, size_t index);

/** Answers, once. After the handler has returned, this frees the request,
 * whatever the status is. A reply that is too large for the bus, or finds no
 * room, becomes an error to the caller: every request ends in one answer. */
strata_status strata_reply(strata_request *request, const char *body, size_t length);

/** Answers a call with descriptors beside the body, at most as many as
 * strata_descriptors() declares. They are duplicated, so they stay the caller's
 * to close. If they can't be sent, the caller gets an error: STRATA_INVALID if
 * one isn't open or the connection carries none, STRATA_OVERLOADED if 64 wait to be
 * sent or the process has no room for more. */
strata_status strata_reply_with(strata_request *request, const char *body, size_t length, const int *descriptors,
                                size_t count);

/** Ends a request with an error. A code of the program's own has a dot, such as
 * "Shop.closed". `ran` is NULL, "no", "maybe" or "yes". */
strata_status strata_fail(strata_request *request, const char *code, const char *message);
strata_status strata_fail_with(strata_request *request, const char *code, const char *message, const char *ran,
                               const char *body, size_t length);

/** Lets the handler return without an answer. The request stays valid until
 * strata_reply() or strata_fail(), which must come, also after a cancel. */
void strata_keep(strata_request *request);

/** Called once if the caller cancels, dies or runs out of time, or the
 * connection is lost. A kept request may be ended there. */
void strata_on_cancel(strata_request *request, strata_handler *handler, void *context);

/** How many parts the caller takes now. */
int64_t strata_credit(const strata_request *request);

/** Sends a part of a stream; it costs one credit. */
strata_status strata_part(strata_request *request, const char *body, size_t length);

/** Called each time credit comes, and when `queued` has room again. */
void strata_on_writable(strata_request *request, strata_handler *handler, void *context);

/* ---- Own requests ------------------------------------------------------ */

typedef enum strata_kind { STRATA_CALL, STRATA_OPEN, STRATA_BROADCAST, STRATA_REPORT, STRATA_EMIT } strata_kind;

/** The answer to an own request, or one part of it. Valid until the callback
 * returns. */
typedef struct strata_answer {
  bool ok;             /**< a reply; else an error */
  const char *code;    /**< an error's; else "" */
  const char *message; /**< for people; "" if none */
  const char *ran;     /**< "no", "maybe" or "yes": whether the handler ran */
  const char *body;    /**< JSON, checked; "null" if empty */
  size_t length;
  const char *root; /**< JSON, an error's root, not ended by a NUL; NULL if none */
  size_t root_length;
  const char *meta; /**< as `root` */
  size_t meta_length;
  size_t descriptor_count; /**< that came with a reply; for strata_take_answered() */
  void *internal;
} strata_answer;

/** Takes one of an answer's descriptors over, as strata_take_descriptor() does.
 * Those that aren't taken are closed when the answer is no longer valid. */
int strata_take_answered(const strata_answer *answer, size_t index);

/** Gets the final answer, exactly once for each request that was sent. */
typedef void strata_answered(strata *bus, const strata_answer *answer, void *context);

/** Without a deadline. */
#define STRATA_FOREVER INT64_C(-1)

typedef struct strata_message {
  const char *to;     /**< call: `Interface/action`; report: a module; open: the URL */
  const char *name;   /**< of a broadcast, a report, an event */
  const char *object; /**< what a notification is about; NULL for none */
  const char *body;
  size_t length;
  int64_t deadline;             /**< milliseconds; 0 for the bus's 30,000 */
  int64_t credit;               /**< parts taken at first; 0 for the bus's 16 */
  const strata_request *parent; /**< the request this is made for: it gets its time, trace and end */
  const char *trace, *meta;     /**< a traceparent; a JSON object */
  bool skip_auth;               /**< for trusted modules */
  strata_answered *answered;    /**< may be NULL; a broadcast without it isn't answered */
  strata_answered *part;        /**< gets each part; credit is given after it returns */
  void *context;                /**< of both */
  bool retain; /**< of a broadcast: the bus keeps it for later observers; "bus/forget" takes it back */
  const char *key; /**< of a request, 1 to 64 bytes: the same replica gets those with the same key; NULL for none */
  /** Of a call or a report: at most STRATA_DESCRIPTORS. They are duplicated, so they
   * stay the caller's to close. STRATA_INVALID and STRATA_OVERLOADED as for
   * strata_reply_with(). */
  const int *descriptors;
  size_t descriptor_count;
} strata_message;

/** Sends a request. `id`, which may be NULL, is set to its number, 0 for a
 * broadcast that isn't answered. The callbacks run in a later strata_step(). */
strata_status strata_send(strata *bus, strata_kind kind, const strata_message *message, uint64_t *id);

/** Asks the bus to end an own request. No further part comes; the answer does
 * (`cancelled`). Unknown ids are ignored. */
void strata_cancel(strata *bus, uint64_t id);

/** An answer that outlives the callback. */
typedef struct strata_result {
  strata_answer answer;
} strata_result;

/** Sends a request and waits for its answer. Meanwhile the peer goes on serving:
 * other handlers run inside this call, so two modules that call one another
 * don't block. An outer wait returns only after the inner ones. `message`'s
 * `answered` isn't used. Always fills `result`; free it. */
bool strata_wait(strata *bus, strata_kind kind, const strata_message *message, strata_result *result);
void strata_result_free(strata *bus, strata_result *result);

/* ---- Running ----------------------------------------------------------- */

/** Runs until the peer ends, and returns the exit code. Takes SIGTERM and SIGINT
 * meanwhile. With `--describe` as the only argument it prints the hello. */
int strata_run(strata *bus, int argc, char **argv);

/** Prints hello's body as one line of JSON to the descriptor. */
strata_status strata_describe(strata *bus, int descriptor);

/** Connects, and waits until hello was answered. For operators and tests. */
bool strata_connect(strata *bus);

/** Another loop: wait for strata_events() on strata_fd() (-1 while there is no
 * connection), and on strata_lifeline() for POLLIN, at most strata_timeout()
 * milliseconds (-1 for no end). Then call strata_step(bus, 0). */
int strata_fd(const strata *bus);
short strata_events(const strata *bus);
int strata_lifeline(const strata *bus);
int strata_timeout(const strata *bus);

/** Connects if it is time, reads, writes, and calls handlers. Waits at most this
 * many milliseconds for something to do. False once the peer has ended. */
bool strata_step(strata *bus, int milliseconds);

/** What exit code the program should have once strata_step() says false. */
int strata_exit_code(const strata *bus);

/** Tears down and ends. The only function for signal handlers and other
 * threads; strata_step() sees it at its next turn. */
void strata_stop(strata *bus);

/** The settings as one JSON object; "{}" at first. Valid until they change. */
const char *strata_settings(const strata *bus);

/** Whether the bus has a feature, such as "contracts". */
bool strata_has_feature(const strata *bus, const char *name);

/* ---- JSON, read -------------------------------------------------------- */
/* A value is a piece of text; there is no tree. The functions never read
 * beyond it, and say false for what has another type. They expect text that
 * strata_json_check() took, as all bodies have been. */

typedef struct strata_json {
  const char *at;
  size_t length;
} strata_json;

/** Checks one JSON value: the grammar, UTF-8, surrogates, at most 512 levels,
 * and that no object has a name twice. Time is n log n at most. Its memory, 4
 * bytes a name, counts for `bus`, which may be NULL. Returns STRATA_INVALID or
 * STRATA_NO_MEMORY if not. */
strata_status strata_json_check(strata *bus, const char *text, size_t length);

/** The whole text as a value, white space around it removed. */
strata_json strata_json_of(const char *text, size_t length);
/** 'o'bject, 'a'rray, 's'tring, 'n'umber, 't'rue, 'f'alse, 'z' for null; 0 if empty. */
char strata_json_type(strata_json value);
/** The member of an object; the name is compared after unescaping. */
bool strata_json_member(strata_json object, const char *name, strata_json *value);
/** The next element of an array or member of an object; begins with
 * `position` 0. `name`, which may be NULL, gets the member's name, a string. */
bool strata_json_next(strata_json container, size_t *position, strata_json *name, strata_json *value);
/** Decodes a string, with a NUL after it. False if it has no room. `length`,
 * which may be NULL, gets how many bytes it has. */
bool strata_json_string(strata_json value, char *buffer, size_t size, size_t *length);
/** An integer without fraction and exponent that fits. */
bool strata_json_int(strata_json value, int64_t *number);
bool strata_json_double(strata_json value, double *number);
bool strata_json_bool(strata_json value, bool *truth);

/* ---- JSON, written ----------------------------------------------------- */
/* Into a buffer of the caller's. Commas are set. When there is no room, or a
 * string isn't UTF-8, `failed` is set and nothing more is written. */

typedef struct strata_writer {
  char *buffer;
  size_t size, length;
  bool failed;
} strata_writer;

strata_writer strata_write(char *buffer, size_t size);
void strata_put_object(strata_writer *writer);
void strata_put_object_end(strata_writer *writer);
void strata_put_array(strata_writer *writer);
void strata_put_array_end(strata_writer *writer);
void strata_put_name(strata_writer *writer, const char *name);
void strata_put_string(strata_writer *writer, const char *text);
void strata_put_bytes(strata_writer *writer, const char *text, size_t length);
void strata_put_int(strata_writer *writer, int64_t number);
void strata_put_double(strata_writer *writer, double number); /**< null if it isn't finite */
void strata_put_bool(strata_writer *writer, bool truth);
void strata_put_null(strata_writer *writer);
/** JSON as it is; an empty one is null. */
void strata_put_json(strata_writer *writer, const char *json, size_t length);
/** Answers with what was written; `failed` if it didn't fit. */
strata_status strata_reply_written(strata_request *request, const strata_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
