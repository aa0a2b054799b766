/** The bounds of a bus, which hello's answer tells, by name; sizes are in bytes. */
export type Limits = Readonly<Record<string, number>>;

/** The bounds of this client that don't depend on the bus. */
export const FRAME = 16 * 1024 * 1024;
export const HEADER = 16 * 1024;
/** How far a frame from the broker may exceed `frame` and `header`. */
export const ADDED = 1024;
export const CALLS = 1024;
export const QUEUE = 8 * 1024 * 1024;
/** Unsent bytes beyond which requests, partial replies and answers wait. */
export const ROOM = 64 * 1024;
/** Calls being served at once; cancelled ones whose handlers go on have as many of their own. */
export const SERVED = 1024;
/** Observers of notices at work at once. */
export const OBSERVERS = 1024;
/** Requests that wait for a connection, or for room to write. */
export const WAITING = 1024;
/** A hello, a part, and any other body that the broker reads. */
export const PART = 65_536;
export const VALUES = 4_096;
export const META = 4_096;
export const META_DEPTH = 31;
export const NAME = 256;
export const KEY = 64;
export const OBJECT = 16_384;
export const MESSAGE = 2_048;
export const BODY_DEPTH = 1_000;
export const HEADER_DEPTH = 32;
export const MOST_DEADLINE = 86_400_000;
export const DEFAULT_DEADLINE = 30_000;
export const CREDIT = 16;
export const INSTANCES = 4_096;
export const PATH = 107;
/** Milliseconds for hello's answer, for a lost connection to be made again, and for tearDown at a signal. */
export const HELLO = 30_000;
export const RECONNECT = 30_000;
export const STOP = 5_000;
/** Milliseconds that a connection waits for room in the broker's backlog. */
export const BACKLOG = 2_000;
