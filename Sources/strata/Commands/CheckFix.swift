import Glibc
import StrataCore
import StrataManifest

/// `strata check --fix`: shows what the rows lack, and writes it.
struct CheckFix {
    let app: DescribedApp
    /// Whether to write without a question.
    let isAgreed: Bool

    func run() throws(Failure) {
        // Nothing is known of these programs, so their rows stay as they are.
        for remark in app.remarks { StandardError.write("strata: \(remark)") }
        let manifest = app.manifest
        let fix: ManifestFix
        do throws(ManifestErrors) {
            fix = try ManifestFix(manifest, app.descriptions, environment: RunningApp.environment)
        } catch {
            throw Failure(
                .usage,
                "\(error)\nstrata: nothing was written: what the programs say can't be added to "
                    + "\(Printable.line(manifest.path)) as it is", isPlain: true)
        }
        guard !fix.files.isEmpty else {
            return StandardOutput.write(
                line: "\(Printable.line(manifest.path)): nothing to fix: the rows have all that their programs say")
        }
        for file in fix.files {
            let difference = LineDifference(file.before, file.after, path: file.path)
            for line in difference.shown(.standardOutput) { StandardOutput.write(line: line) }
        }
        guard try mayWrite() else { throw Failure(.answer, "nothing was written") }
        try ReplacedFile.replace(fix.files.map { ($0.path, $0.before, $0.after) })
        for file in fix.files { StandardOutput.write(line: "\(Printable.line(file.path)) was changed") }
    }

    private func mayWrite() throws(Failure) -> Bool {
        if isAgreed { return true }
        guard isatty(STDIN_FILENO) == 1, StandardOutput.isTerminal else {
            throw Failure(.answer, "nothing was written: without a terminal to ask on, --fix needs --yes")
        }
        StandardOutput.raw(Array("write this? [y/N] ".utf8))
        let answer = readLine()?.lowercased() ?? ""
        return ["y", "yes"].contains(answer)
    }
}
