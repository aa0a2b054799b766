import Glibc
import StrataCore
import StrataManifest

/// A Debian package of an app: its manifest in `/etc/strata/APP`, where the unit `strata@APP` looks, and its files in
/// `/usr/lib/strata/APP`. A link for each file stands beside the manifest, so that the manifest's paths hold there.
struct AppPackage {
    let app: String
    let version: String
    let files: AppFiles
    /// The manifest's folder.
    let source: String

    var name: String { "strata-app-\(app)" }
    private var maintainer: String {
        "\(Environment["DEBFULLNAME"] ?? "The makers of \(app)") <\(Environment["DEBEMAIL"] ?? "root@localhost")>"
    }
    private var library: String { "usr/lib/strata/\(app)" }
    private var settings: String { "etc/strata/\(app)" }
    /// The manifest's files as they are called there: the unit reads `strata.yaml`.
    private var manifests: [String] { ["strata.yaml"] + files.manifests.dropFirst() }

    /// Makes the package in a folder.
    /// - Returns: its path.
    /// - Throws: `usage` if a tool is missing or a file can't be written, `answer` if a tool fails.
    func write(to folder: String) throws(Failure) -> String {
        // In /tmp, because the output's folder may be on a disk without modes and links.
        var template = Array("/tmp/strata-package-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(.usage, "no folder can be made in /tmp: \(String(cString: strerror(errno)))")
        }
        let tree = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { _ = try? ChildCommand.run(["rm", "-rf", tree]) }
        // The packed folders are for everybody, whatever this user's mask says.
        umask(0o022)
        // mkdtemp makes a folder that only its user may enter.
        chmod(tree, 0o755)
        for (path, name) in zip(files.manifests, manifests) {
            try install("\(source)/\(path)", "\(tree)/\(settings)/\(name)", ["-m", "644"])
        }
        for path in files.files.sorted() {
            let options = ["-m", access("\(source)/\(path)", X_OK) == 0 ? "755" : "644"]
            // Without its symbols a program in Swift is a third as large.
            let isNative = isELF("\(source)/\(path)")
            try install("\(source)/\(path)", "\(tree)/\(library)/\(path)", options + (isNative ? ["-s"] : []))
            try makeFolder(of: "\(tree)/\(settings)/\(path)")
            guard symlink("/\(library)/\(path)", "\(tree)/\(settings)/\(path)") == 0 else { throw failure(path) }
        }
        for path in files.folders.sorted() { try makeFolder(of: "\(tree)/\(settings)/\(path)/.") }
        let programs = files.files.sorted().map { "\(tree)/\(library)/\($0)" }.filter(isELF)
        let architecture = programs.isEmpty ? "all" : try text(of: ["dpkg", "--print-architecture"])
        let needs = try needs(programs)
        // After dpkg-shlibdeps, which finds the libraries by them.
        for program in programs { try leaveOutFolders(of: program) }
        try PackageDocuments(app: app, package: name, version: version, maintainer: maintainer, folder: source)
            .write(to: tree)
        let size = try text(of: ["du", "-k", "--apparent-size", "-s", tree]).prefix { $0 != "\t" }
        try write(control(architecture, size: size, needs: needs), to: "\(tree)/DEBIAN/control")
        _ = try text(of: [
            "/bin/sh", "-c",
            "mkdir -p \"$0/usr\" && cd \"$0\" && find usr -type f -print0 | sort -z | xargs -0r md5sum >DEBIAN/md5sums",
            tree,
        ])
        try write(
            manifests.map { "/\(settings)/\($0)\n" }.joined(), to: "\(tree)/DEBIAN/conffiles")
        try write(installed, to: "\(tree)/DEBIAN/postinst", mode: 0o755)
        try write(removed, to: "\(tree)/DEBIAN/prerm", mode: 0o755)
        try write(purged, to: "\(tree)/DEBIAN/postrm", mode: 0o755)
        let package = "\(folder)/\(name)_\(version)_\(architecture).deb"
        _ = try text(of: ["dpkg-deb", "--root-owner-group", "--build", tree, package])
        return package
    }

    private func control(_ architecture: String, size: Substring, needs: [String]) -> String {
        """
        Package: \(name)
        Version: \(version)
        Architecture: \(architecture)
        Maintainer: \(maintainer)
        Installed-Size: \(size)
        Depends: \(needs.joined(separator: ", "))
        Section: misc
        Priority: optional
        Description: \(app), an app of the Strata bus
         The manifest is /etc/strata/\(app)/strata.yaml.
         The unit strata@\(app).service runs it.

        """
    }

    /// After an upgrade the rows are replaced one by one: each serves on until its next process is ready if the row
    /// says `replace: overlap`, and requests wait otherwise. A row that can't be restarted doesn't fail the upgrade,
    /// because the files are in place: the launcher and `strata` say what is wrong.
    private var installed: String {
        """
        #!/bin/sh
        set -e
        socket=/run/strata/\(app)/\(app).sock
        if [ "$1" = configure ] && [ -n "$2" ] && systemctl -q is-active strata@\(app).service 2>/dev/null; then
            strata reload --socket $socket || exit 0
            for row in \(files.rows.joined(separator: " ")); do
                if strata ps --json --socket $socket | grep -Eq "\\"name\\":\\"$row(~[0-9]+)?\\".*\\"pid\\":[0-9]"; then
                    strata restart "$row" --socket $socket || true
                fi
            done
        fi

        """
    }

    /// A unit that can't be stopped doesn't keep the package from being removed, because systemd has said why.
    private var removed: String {
        """
        #!/bin/sh
        set -e
        if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
            systemctl disable --now strata@\(app).socket strata@\(app).service || true
        fi
        # What Python has made there.
        if [ "$1" = remove ]; then find /\(library) -name __pycache__ -prune -exec rm -r {} +; fi

        """
    }

    /// The unit makes the folder for what modules write. The folders above stay if they aren't there any more, or
    /// because something else is in them.
    private var purged: String {
        """
        #!/bin/sh
        set -e
        if [ "$1" = purge ]; then
            rm -rf /var/lib/strata/\(app)
            rmdir --ignore-fail-on-non-empty /var/lib/strata /etc/strata/\(app) 2>/dev/null || true
        fi

        """
    }

    // MARK: Dependencies

    private func needs(_ programs: [String]) throws(Failure) -> [String] {
        var needs = ["strata (>= \(RootCommand.version))"]
        if !files.python.isEmpty { needs.append("python3") }
        if files.needsPythonClient { needs.append("python3-strata-bus") }
        guard !programs.isEmpty else { return needs }
        if try ChildCommand.run(["grep", "-q", "libswiftCore.so"] + programs).isGood {
            needs.append("strata-swift-runtime")
        }
        // It wants a source package in its folder, and warns of each library of Swift, which no package has.
        let folder = "\(programs[0]).needs"
        try write("Source: x\n\nPackage: x\nArchitecture: any\n", to: "\(folder)/debian/control")
        let end = try ChildCommand.run(
            ["/bin/sh", "-c", "exec dpkg-shlibdeps -O --ignore-missing-info \"$@\" 2>&1", "sh"] + programs, in: folder,
            returnsOutput: true)
        _ = try ChildCommand.run(["rm", "-rf", folder])
        guard end.isGood else {
            let said = String(decoding: end.output, as: UTF8.self)
            throw Failure(.answer, "dpkg-shlibdeps ended with \(end.text):\n\(Printable.indented(said))")
        }
        let line = String(decoding: end.output, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("shlibs:Depends=")
        }
        if let found = line?.dropFirst("shlibs:Depends=".count), !found.isEmpty { needs.append(String(found)) }
        return needs
    }

    private func leaveOutFolders(of program: String) throws(Failure) {
        guard let changed = ReplacedFile.content(program).flatMap(LibraryFolders.withoutThoseOfThisMachine) else {
            return
        }
        let descriptor = open(program, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(program) }
        defer { close(descriptor) }
        guard Descriptor.write(changed, to: descriptor) == 0 else { throw failure(program) }
    }

    private func isELF(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var head: [UInt8] = [0, 0, 0, 0]
        return read(descriptor, &head, 4) == 4 && head == [0x7F, 0x45, 0x4C, 0x46]
    }

    // MARK: Files

    private func text(of words: [String]) throws(Failure) -> String { try PackageTool.text(of: words) }

    private func install(_ path: String, _ target: String, _ options: [String]) throws(Failure) {
        _ = try text(of: ["install", "-D"] + options + [path, target])
    }

    private func makeFolder(of path: String) throws(Failure) { try PackageTool.makeFolder(of: path) }

    private func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(Failure) {
        try PackageTool.write(text, to: path, mode: mode)
    }

    private func failure(_ path: String) -> Failure { PackageTool.failure(path) }
}
