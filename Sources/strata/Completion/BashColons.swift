/// Bash takes a colon for the end of a word, and a URL has one: the argument parser's
/// script would see three words. This puts them together before it is asked, and takes
/// off what bash has already.
enum BashColons {
    private static let registration = "complete -o filenames -F _strata strata"

    /// The parser's script, behind a function that joins.
    static func joined(_ script: String) -> String {
        guard let place = script.firstRange(of: registration) else { return script }
        return script[..<place.lowerBound] + wrapper + script[place.upperBound...]
    }

    private static let wrapper = #"""
        _strata_joining_colons() {
            local -a words=()
            local -i index number=-1 current=0
            for index in "${!COMP_WORDS[@]}"; do
                if [[ ${number} -ge 0 && (${COMP_WORDS[index]} == :* || ${words[number]} == *:) ]]; then
                    words[number]+=${COMP_WORDS[index]}
                else
                    words[++number]=${COMP_WORDS[index]}
                fi
                [[ ${index} -eq ${COMP_CWORD} ]] && current=${number}
            done
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD=${current}
            local word=${COMP_WORDS[COMP_CWORD]}
            _strata "${1}" "${word}" "${COMP_WORDS[COMP_CWORD - 1]}"
            local before=${word%"${word##*:}"}
            for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]=${COMPREPLY[index]#"${before}"}; done
        }

        complete -o filenames -F _strata_joining_colons strata
        """#
}
