#pragma once
#include <sys/types.h>

// Starts a program; its end comes with this process's, whatever ends it.
// - cpu: the one it may run on; -1 for any.
// - descriptors: what becomes its standard input, output, error and 3; -1 leaves
//   those as they are, and 3 closed.
// Gives the process's id, or a negative errno.
pid_t launch(const char *const *words, int cpu, const int descriptors[4]);

// A file without a name that has these bytes, or a negative errno.
int launch_memory_file(const void *bytes, size_t count);

// A pipe whose ends no program inherits; 0, or a negative errno.
int launch_pipe(int ends[2]);

// Whether somebody listens at a path, or, where that is null, at a port of this machine.
int launch_listens(const char *path, int port);

// A port of this machine that nobody has at the moment, or a negative errno.
int launch_free_port(void);
