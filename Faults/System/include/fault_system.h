#pragma once
#include <sys/types.h>

// Starts a program in a session of its own, with `environment` as all of its
// environment and `output` as its standard output and error; it is killed with
// this process, whatever ends that. Gives its id, or a negative errno.
pid_t fault_launch(const char *const *words, const char *const *environment, int output);

// Makes this process the parent of what its descendants leave behind.
int fault_adopt_orphans(void);

// Shuts down a process's connections to the socket of that path, from outside,
// whatever is on its way. Gives how many there were, or a negative errno.
int fault_cut(pid_t pid, const char *path);

// Mounts a tmpfs of so many bytes in this process's own view of the file system,
// which ends with the last process in it. 0, or a negative errno.
int fault_private_disk(const char *path, size_t bytes);

// Whether somebody listens at a path.
int fault_listens(const char *path);

// Unmounts it.
void fault_end_private_disk(const char *path);

// Sets how large a process's files may become by what it writes; negative for any
// size. 0, or a negative errno.
int fault_limit_files(pid_t pid, long bytes);
