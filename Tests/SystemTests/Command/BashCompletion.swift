import StrataTesting
import Testing

/// Completions as bash gets them.
enum BashCompletion {
    /// Returns the completions for the last word. The words are split at `:` and `=`, as bash does it.
    static func offered(_ words: [String], _ environment: [String: String]) throws -> Set<String> {
        let strata = try BuiltExecutable.path("strata")
        let bash = try ChildProgram(
            "/bin/bash",
            [
                "--norc", "-c",
                """
                source <("$0" completions bash) || exit 9
                function=$(complete -p strata); function=${function##*-F }; function=${function%% *}
                COMP_WORDS=("$0" "${@:2}") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
                "$function" strata "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """,
                strata,
            ] + words, environment: environment)
        let end = try bash.wait()
        try #require(end == .exit(0), "\(bash.outputText)")
        return Set(bash.outputText.split(separator: "\n").map(String.init))
    }
}
