#pragma once
#include <sys/types.h>

// Starts a program in a session of its own. `environment` is its whole environment, and `output`
// is its standard output and error. `network` is its network, from `fault_network`, or -1 for this
// process's. The kernel kills it when this process ends. Returns its id, or a negative errno.
pid_t fault_launch(const char *const *words, const char *const *environment, int output, int network);

// Makes a network namespace. It ends when its descriptor is closed and no process is in it. Returns
// the descriptor, or a negative errno.
int fault_network(void);

// Returns a port of 127.0.0.1 that is free at the moment, or a negative errno.
int fault_free_port(void);

// Makes this process the parent of orphaned descendants. Returns 0, or a negative errno.
int fault_adopt_orphans(void);

// Shuts down a process's connections to the socket at that path, from outside, with whatever is
// on its way. Returns the number of connections, or a negative errno.
int fault_cut(pid_t pid, const char *path);

// Mounts a tmpfs of this size in a mount namespace of this process, which ends with the last
// process in it. Returns 0, or a negative errno.
int fault_private_disk(const char *path, size_t bytes);

// Returns whether a process listens at the path.
int fault_listens(const char *path);

// Unmounts the private disk.
void fault_end_private_disk(const char *path);

// Limits the size of files that a process writes; a negative number removes the limit. Returns 0,
// or a negative errno.
int fault_limit_files(pid_t pid, long bytes);
