internal import CUV

/// The process's standard output.
public enum StandardOutput {
    /// Writes it line by line, also into a pipe, where the C library would hold
    /// 4 KiB back. Once per process, before the first `print`.
    public static func writeLines() { strata_line_buffer_output() }
}
