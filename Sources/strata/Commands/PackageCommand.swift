import ArgumentParser
import Glibc
import StrataCore
import StrataManifest

/// `strata package`: makes a Debian package of an app.
struct PackageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "package", abstract: "Makes a Debian package of an app: its manifest and its modules.",
        discussion: """
            The manifest and what it includes go to /etc/strata/APP, where strata@APP.service \
            looks, and stay as the administrator changes them. The rows' programs, and scripts \
            that a program of the system runs, go to /usr/lib/strata/APP, with a link beside the \
            manifest. With a Python file go the others of its folder, and packages there. Only \
            what is in the manifest's folder is packed. What the modules write belongs in \
            /var/lib/strata/APP, which the unit makes.

            Build the programs before. The package depends on strata, on what the programs are \
            linked with, and on python3-strata-bus if Python imports it. An upgrade reloads the \
            manifest and restarts the rows that run, one by one.

            EXAMPLE
              strata package --version 1.2
              strata package app.yaml --include data --output packages
              apt install ./strata-app-greetings_1.2_amd64.deb

            It needs Debian's dpkg-dev. DEBFULLNAME and DEBEMAIL name the maintainer.
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest = "strata.yaml"

    @Option(help: ArgumentHelp("The package's version, as Debian writes it.", valueName: "version"))
    var version = "1.0"

    @Option(help: ArgumentHelp("A file or a folder to pack, too.", valueName: "path"), completion: .file())
    var include: [String] = []

    @Option(help: ArgumentHelp("The folder to make the package in.", valueName: "folder"), completion: .directory)
    var output = "."

    func validate() throws {
        // Debian's policy, 5.6.12, without an epoch and a revision.
        guard version.wholeMatch(of: /[0-9][A-Za-z0-9.+~]*/) != nil else {
            throw ValidationError("--version wants digits, letters, dots, + and ~, a digit first; found \(version)")
        }
    }

    func run() throws {
        let app: Manifest
        do throws(ManifestErrors) {
            app = try Manifest.load(path: manifest, environment: RunningApp.environment)
        } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        guard access(output, W_OK) == 0 else {
            throw Failure(.usage, "--output \(output): \(String(cString: strerror(errno)))")
        }
        let files = try AppFiles(app, further: include)
        for program in files.outside.sorted() { StandardError.write("not packed: \(program)") }
        let package = AppPackage(app: app.table.app, version: version, files: files, source: app.folder)
        StandardOutput.write(line: try package.write(to: output))
    }
}
