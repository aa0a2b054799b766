import Glibc

/// What Debian wants to know of each package: who has the rights, what has changed, and why a rule of lintian doesn't
/// hold for it.
struct PackageDocuments {
    let app: String
    let package: String
    let version: String
    let maintainer: String
    /// The manifest's folder.
    let folder: String

    func write(to tree: String) throws(Failure) {
        let documents = "\(tree)/usr/share/doc/\(package)"
        let time = Environment["SOURCE_DATE_EPOCH"].flatMap { Int($0) }.map { ["-d", "@\($0)"] } ?? []
        let date = try PackageTool.text(of: ["date", "-uR"] + time)
        let names = ["LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"]
        let license = names.lazy.map { name -> String in "\(folder)/\(name)" }.first { access($0, R_OK) == 0 }
        if let license {
            _ = try PackageTool.text(of: ["install", "-D", "-m", "644", license, "\(documents)/copyright"])
        } else {
            try PackageTool.write(copyright(date), to: "\(documents)/copyright")
        }
        try PackageTool.write(changes(date), to: "\(documents)/changelog")
        _ = try PackageTool.text(of: ["gzip", "-9n", "\(documents)/changelog"])
        try PackageTool.write(overrides, to: "\(tree)/usr/share/lintian/overrides/\(package)")
    }

    /// - Parameter date: as `date -R` writes it: `Tue, 14 Nov 2023 22:13:20 +0000`.
    private func copyright(_ date: String) -> String {
        """
        \(app), an app of the Strata bus.

        Copyright \(date.split(separator: " ").dropFirst(3).first ?? "") the makers of \(app).
        The folder that it was packed from has no file LICENSE or COPYING.

        """
    }

    private func changes(_ date: String) -> String {
        """
        \(package) (\(version)) unstable; urgency=medium

          * Packed by strata package.

         -- \(maintainer)  \(date)

        """
    }

    private var overrides: String {
        """
        # debhelper's scripts don't know the instances of the unit strata@.service.
        \(package): maintainer-script-calls-systemctl *

        """
    }
}
